/* The form of a repository shows what belongs to the address that is typed: a deploy key for ssh, a
   token for https and the APIs, neither for a folder. The form for a collection ticks “chosen” when
   a repository is chosen. Without this file everything is shown, and works. */
(() => {
  "use strict";

  /* ---- A repository ------------------------------------------------------------------------ */

  const SSH = /^ssh:\/\/|^[^/@:]+@[^/:]+:/i;
  const LOCAL = /^(\/|file:\/\/)/i;

  function wayOf(form) {
    const address = form.elements.address.value.trim();
    const kind = form.elements.kind.value;
    if (kind === "gitlab" || kind === "github") return "api";
    if (kind === "local" || (!kind && LOCAL.test(address))) return "local";
    if (SSH.test(address)) return "ssh";
    // Nothing is known yet: both ways stay open.
    return address ? "https" : "";
  }

  const form = document.querySelector("[data-repository-form]");
  if (form) {
    const show = () => {
      form.dataset.way = wayOf(form);
      form.dataset.forAll = form.elements.for_all?.checked ? "yes" : "";
    };
    form.addEventListener("input", show);
    form.addEventListener("change", show);
    show();
  }

  /* ---- A collection --------------------------------------------------------------------------- */

  document.querySelector("[data-start]")?.addEventListener("change", (event) => {
    if (event.target.name === "repository" && event.target.checked) {
      event.currentTarget.querySelector("[name=which][value=chosen]").checked = true;
    }
  });
})();
