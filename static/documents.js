/* Choosing documents in the list. Without this file each box still works with the button. */
(() => {
  "use strict";

  const button = document.querySelector("[data-chosen-button]");
  if (!button) return;
  const count = button.querySelector("[data-chosen-count]");
  const boxes = () => [...document.querySelectorAll('#results input[name="ids"]')];
  let last = null;

  function show() {
    const all = boxes();
    const chosen = all.filter((box) => box.checked).length;
    button.disabled = !chosen;
    count.hidden = !chosen;
    count.textContent = chosen;
    const every = document.querySelector("#results [data-choose-all]");
    if (every) {
      every.checked = chosen > 0 && chosen === all.length;
      every.indeterminate = chosen > 0 && chosen < all.length;
    }
  }

  document.addEventListener("click", (event) => {
    const box = event.target;
    if (box.matches?.("[data-choose-all]")) {
      for (const each of boxes()) each.checked = box.checked;
    } else if (box.matches?.('#results input[name="ids"]')) {
      // With Shift held, everything between this box and the last one follows.
      const all = boxes();
      const from = all.indexOf(last);
      const to = all.indexOf(box);
      if (event.shiftKey && from >= 0) {
        for (const each of all.slice(Math.min(from, to), Math.max(from, to) + 1)) each.checked = box.checked;
      }
      last = box;
    } else return;
    show();
  });

  // A live update replaces the rows; what was chosen stays chosen. Other parts of the page are
  // replaced at the same moment, so only the swap of the rows counts, and only once.
  let kept = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "results") return;
    kept = new Set(boxes().filter((box) => box.checked).map((box) => box.value));
  });
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
