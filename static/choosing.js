/* Choosing rows of a list. Without this file each box still works, with the buttons that stand there.

   #results input[name=ids]      a box in each row
   [data-choose-all]             all boxes of the page
   [data-chosen-count]           how many are chosen
   [data-chosen-button]          for chosen rows only
   [data-chosen-bar]             there only while some are chosen
   [data-chosen-every]           for who has chosen the whole page and may mean the other pages, too */
(() => {
  "use strict";

  const boxes = () => [...document.querySelectorAll('#results input[name="ids"]')];
  const each = (what, use) => document.querySelectorAll(`[data-${what}]`).forEach(use);
  let last = null;

  function show() {
    const all = boxes();
    const chosen = all.filter((box) => box.checked).length;
    each("chosen-bar", (bar) => { bar.hidden = !chosen; });
    each("chosen-button", (button) => { button.disabled = !chosen; });
    each("chosen-count", (count) => {
      count.hidden = !chosen;
      count.textContent = chosen;
    });
    each("chosen-every", (label) => {
      label.hidden = chosen < all.length;
      if (label.hidden) label.querySelector("input").checked = false;
    });
    each("choose-all", (box) => {
      box.checked = chosen > 0 && chosen === all.length;
      box.indeterminate = chosen > 0 && chosen < all.length;
    });
  }

  document.addEventListener("click", (event) => {
    const box = event.target;
    if (box.matches?.("[data-choose-all]")) {
      for (const one of boxes()) one.checked = box.checked;
    } else if (box.matches?.('#results input[name="ids"]')) {
      // With Shift held, everything between this box and the last one follows.
      const all = boxes();
      const from = all.indexOf(last);
      const to = all.indexOf(box);
      if (event.shiftKey && from >= 0) {
        for (const one of all.slice(Math.min(from, to), Math.max(from, to) + 1)) one.checked = box.checked;
      }
      last = box;
    } else return;
    show();
  });

  // A live update replaces the rows; what was chosen stays chosen. What somebody has just done to the
  // chosen ones is done: nothing is chosen any more. Other parts of the page are replaced at the same
  // moment, so only the swap of the rows counts, and only once.
  let kept = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "results") return;
    const { verb, parameters } = event.detail.requestConfig;
    // The button of a row, and the one that takes back, have nothing to do with the chosen ones.
    const done = verb === "post" && !parameters.has("only") && !parameters.has("undo");
    kept = new Set(done ? [] : boxes().filter((box) => box.checked).map((box) => box.value));
  });
  // At once, not when all has settled: until then the bar of the chosen ones would be there, and take
  // the keys that are meant for a row.
  document.addEventListener("htmx:afterSwap", () => {
    if (!kept) return;
    for (const box of boxes()) box.checked = kept.has(box.value);
    kept = null;
    last = null;
    show();
  });
  window.addEventListener("pageshow", show);
  show();
})();
