/* Searching as one types, and going through the results by keys. Without this file the form and the
   links still work. */
(() => {
  "use strict";

  const form = document.querySelector("[data-ask]");
  const box = form.querySelector("input[type=search]");
  const links = () => [...document.querySelectorAll("#results [data-row-link]")];

  // Only while somebody types may the last word be unfinished.
  form.addEventListener("htmx:configRequest", (event) => {
    const from = event.detail.triggeringEvent;
    if (from?.type === "input" && from.target === box) event.detail.parameters.append("typing", "1");
  });

  // What an input method has not settled yet is no word: each stroke would ask for another one.
  document.addEventListener("input", (event) => {
    if (event.isComposing && form.contains(event.target)) event.stopPropagation();
  }, true);
  form.addEventListener("compositionend", (event) => {
    event.target.dispatchEvent(new Event("input", { bubbles: true }));
  });

  function move(step) {
    const all = links();
    const now = all.indexOf(document.activeElement);
    const next = now + step;
    if (next < 0) box.focus();
    else if (next < all.length) {
      all[next].focus({ focusVisible: true });
      all[next].scrollIntoView({ block: "nearest" });
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const inResults = links().includes(document.activeElement);
    if (event.target !== box && !inResults) return;
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp" && inResults) move(-1);
    else if (event.key === "Escape" && inResults) {
      box.focus();
      box.select();
    } else return;
    event.preventDefault();
  });
})();
