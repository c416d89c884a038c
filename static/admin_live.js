/* Keeps the cells with data-live up to date while an admin list is looked at. The page is asked for
   again and nothing but these cells is taken from it: what is chosen and typed stays. */
(() => {
  "use strict";

  const EVERY = 3_000;

  async function refresh() {
    const answer = await fetch(location.href);
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const cell of document.querySelectorAll("[data-live]")) {
      const now = page.querySelector(`[data-live="${CSS.escape(cell.dataset.live)}"]`);
      if (now && now.textContent !== cell.textContent) cell.textContent = now.textContent;
    }
  }

  async function go() {
    // Where it does not answer, the next round asks again.
    if (!document.hidden) await refresh().catch(() => {});
    setTimeout(go, EVERY);
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (document.querySelector("[data-live]")) setTimeout(go, EVERY);
  });
})();
