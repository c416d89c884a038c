/* The list of terms: where the focus goes when a row leaves it. Choosing rows is in choosing.js. */
(() => {
  "use strict";

  const links = () => [...document.querySelectorAll("#results [data-row-link]")];

  // The button that takes back stands in a message, outside of the form that it belongs to: there htmx
  // does not see what it says.
  document.addEventListener("htmx:configRequest", (event) => {
    const button = event.detail.triggeringEvent?.submitter;
    if (button?.name && event.detail.elt.id === "chosen") event.detail.parameters.set(button.name, button.value);
  });

  // The second half of a double click would meet the row that has moved up.
  document.addEventListener("click", (event) => {
    if (event.detail > 1 && event.target.closest("#results button[name=only]")) event.preventDefault();
  });

  let place = -1;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "results") return;
    const row = document.activeElement.closest("#results tr");
    place = row ? links().findIndex((link) => row.contains(link)) : -1;
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.elt.id !== "results") return;
    const all = links();
    // Only a focus that is lost is put back: meanwhile somebody may have gone to the search box.
    if (place >= 0 && all.length && document.activeElement === document.body) {
      all[Math.min(place, all.length - 1)].focus({ focusVisible: true });
    }
    place = -1;
  });

  // Whoever asks for the form wants to write.
  document.addEventListener("toggle", (event) => {
    if (event.target.matches(".add-term[open]")) event.target.querySelector("input:not([type=hidden])").focus();
  }, true);

  // On a phone the lists scroll sideways: the current one must be in sight.
  document.querySelector(".shows [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
})();
