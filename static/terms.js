/* Choosing terms in the list, and where the focus goes when a row leaves it. Without this file each
   box and button still works. */
(() => {
  "use strict";

  const boxes = () => [...document.querySelectorAll('#results input[name="ids"]')];
  const links = () => [...document.querySelectorAll("#results [data-row-link]")];
  let last = null;

  function show() {
    const bar = document.querySelector("[data-chosen-bar]");
    if (!bar) return;
    const all = boxes();
    const chosen = all.filter((box) => box.checked).length;
    bar.hidden = !chosen;
    bar.querySelector("[data-chosen-count]").textContent = chosen;
    // Only who has chosen the whole page may mean the other pages, too.
    const more = bar.querySelector("[data-chosen-every]");
    if (more) {
      more.hidden = chosen < all.length;
      if (more.hidden) more.querySelector("input").checked = false;
    }
    const every = document.querySelector("#results [data-choose-all]");
    every.checked = chosen > 0 && chosen === all.length;
    every.indeterminate = chosen > 0 && chosen < all.length;
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

  // The button that takes back stands in a message, outside of the form that it belongs to: there htmx
  // does not see what it says.
  document.addEventListener("htmx:configRequest", (event) => {
    const button = event.detail.triggeringEvent?.submitter;
    if (button?.name && event.detail.elt.id === "chosen") event.detail.parameters.set(button.name, button.value);
  });

  // A live update replaces the rows; what was chosen stays chosen. What somebody has just done to the
  // chosen ones is done: nothing is chosen any more, and the focus stays where it was in the list.
  let kept = null;
  let place = -1;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "results") return;
    const { verb, parameters } = event.detail.requestConfig;
    // The button of a row, and the one that takes back, have nothing to do with the chosen ones.
    const done = verb === "post" && !parameters.has("only") && !parameters.has("undo");
    kept = new Set(done ? [] : boxes().filter((box) => box.checked).map((box) => box.value));
    const row = document.activeElement.closest("#results tr");
    place = row ? links().findIndex((link) => row.contains(link)) : -1;
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (!kept || event.detail.elt.id !== "results") return;
    for (const box of boxes()) box.checked = kept.has(box.value);
    kept = null;
    last = null;
    show();
    const all = links();
    // Only a focus that is lost is put back: meanwhile somebody may have gone to the search box.
    if (place >= 0 && all.length && document.activeElement === document.body) {
      all[Math.min(place, all.length - 1)].focus({ focusVisible: true });
    }
  });

  // Whoever asks for the form wants to write.
  document.addEventListener("toggle", (event) => {
    if (event.target.matches(".add-term[open]")) event.target.querySelector("input:not([type=hidden])").focus();
  }, true);

  window.addEventListener("pageshow", show);
  show();
  // On a phone the lists scroll sideways: the current one must be in sight.
  document.querySelector(".shows [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
})();
