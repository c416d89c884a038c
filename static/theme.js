/* Loaded before the first paint, so that a chosen theme never flashes the other one. */
(() => {
  "use strict";
  const THEMES = ["light", "dark"];
  let saved = null;
  try {
    saved = localStorage.getItem("theme");
  } catch {
    /* Storage can be switched off; then the system's theme is used. */
  }
  document.documentElement.dataset.theme = THEMES.includes(saved) ? saved : "auto";
  document.documentElement.classList.add("has-js");
})();
