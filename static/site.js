/* What every page can do beyond HTML. Each part stands alone; without this file pages still work.
   Words shown to people come from data attributes, so that the server translates them. */
(() => {
  "use strict";

  const root = document.documentElement;

  const remember = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      /* Storage can be switched off; the choice then lasts for this page. */
    }
  };
  const remembered = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };

  /* ---- Theme: auto → light → dark --------------------------------------------------------- */

  const THEMES = ["auto", "light", "dark"];

  function showTheme(button) {
    const label = button.dataset[`label${root.dataset.theme.replace(/^./, (c) => c.toUpperCase())}`];
    button.setAttribute("aria-label", label);
    button.title = label;
  }

  function nextTheme(button) {
    root.dataset.theme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
    remember("theme", root.dataset.theme);
    showTheme(button);
  }

  /* ---- Times: “3 minutes ago” stays true while a page is open ------------------------------- */

  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const relative = new Intl.RelativeTimeFormat(root.lang, { numeric: "always" });

  function refreshTimes(scope) {
    for (const time of scope.querySelectorAll("time[data-ago]")) {
      const then = new Date(time.dateTime);
      const seconds = Math.max(0, (Date.now() - then) / 1000);
      const unit = units.find(([, length]) => seconds >= length);
      const words = unit
        ? relative.format(-Math.floor(seconds / unit[1]), unit[0])
        : document.body.dataset.justNow;
      // The server writes Japanese without a space after the figure; so do we.
      const text = root.lang === "ja" ? words.replace(/(\d)\s+/, "$1") : words;
      if (time.textContent !== text) time.textContent = text;
    }
    // The exact time in the reader's own time zone.
    for (const time of scope.querySelectorAll("time[datetime]:not([data-local])")) {
      time.dataset.local = "";
      time.title = new Date(time.dateTime).toLocaleString(root.lang, { dateStyle: "long", timeStyle: "long" });
    }
  }

  /* ---- Things that need JavaScript appear only when it is there ------------------------------- */

  function reveal(scope) {
    for (const element of scope.querySelectorAll("[data-theme-toggle], [data-dismiss], [data-shortcuts-open]")) {
      element.hidden = false;
      if ("themeToggle" in element.dataset) showTheme(element);
    }
    if (navigator.clipboard) {
      for (const element of scope.querySelectorAll("[data-copy]")) element.hidden = false;
    }
    refreshTimes(scope);
  }

  async function copy(button) {
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent);
    const label = button.querySelector("[data-copy-label]");
    const before = label.textContent;
    label.textContent = document.body.dataset.copied;
    setTimeout(() => { label.textContent = before; }, 2000);
  }

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    let button;
    if ((button = on("[data-theme-toggle]"))) nextTheme(button);
    else if ((button = on("[data-dismiss]"))) button.closest(".message").remove();
    else if ((button = on("[data-copy]"))) copy(button);
    else if (on("[data-shortcuts-open]")) openShortcuts();
    // A click outside closes an open menu or confirmation.
    for (const details of document.querySelectorAll("details:is(.menu, .confirm)[open]")) {
      if (!details.contains(event.target)) details.open = false;
    }
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-shortcuts-enabled]")) {
      remember("shortcuts", event.target.checked ? "on" : "off");
    }
  });

  // One press is one request: a second click while the first is on its way does nothing.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.hasAttribute("hx-post")) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    form.setAttribute("aria-busy", "true");
  });
  // Coming back to a kept page, its forms can be sent again.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) {
      delete form.dataset.sent;
      form.removeAttribute("aria-busy");
    }
  });

  /* ---- Keyboard ------------------------------------------------------------------------------------ */

  const dialog = () => document.getElementById("shortcuts");

  function openShortcuts() {
    const box = dialog();
    if (!box || box.open) return;
    box.querySelector("[data-shortcuts-enabled]").checked = remembered("shortcuts") !== "off";
    box.showModal();
  }

  function moveRow(step) {
    const links = [...document.querySelectorAll("[data-rows] [data-row-link]")];
    if (!links.length) return;
    const row = document.activeElement.closest("[data-rows] :is(tr, li)");
    const now = links.findIndex((link) => row?.contains(link));
    const next = now < 0 ? (step > 0 ? 0 : links.length - 1) : now + step;
    const link = links[Math.min(Math.max(next, 0), links.length - 1)];
    // focusVisible: the ring must show, as it does after Tab.
    link.focus({ focusVisible: true });
    link.scrollIntoView({ block: "nearest" });
  }

  const keys = {
    "/": () => {
      const box = document.querySelector("[data-filter]");
      box?.focus();
      box?.select();
      // A page with nothing to filter: there is always something to search.
      if (!box) document.querySelector('[data-go="s"]')?.click();
      return true;
    },
    "?": () => (openShortcuts(), true),
    j: () => (moveRow(1), true),
    k: () => (moveRow(-1), true),
  };
  let goUntil = 0;

  // What a page can do by a single key has data-key: first with the rows that are chosen, then with
  // the row that has the focus, then with the page.
  function pressByKey(key) {
    const named = `[data-key="${CSS.escape(key)}"]`;
    const row = document.activeElement.closest("[data-rows] :is(tr, li)");
    const control =
      document.querySelector(`[data-chosen-bar]:not([hidden]) ${named}`) ??
      row?.querySelector(named) ??
      document.querySelector(`${named}:not([data-rows] *, [data-chosen-bar] *)`);
    // A list to choose from takes the focus: the choice is the next key.
    if (control?.matches("select")) control.focus({ focusVisible: true });
    else control?.click();
    return Boolean(control);
  }

  // The search page has manners of its own (search.js).
  const FILTER = "[data-filter]:not([data-ask] *)";

  // What an input method has not settled yet is no word: each stroke would ask for another one.
  document.addEventListener("input", (event) => {
    if (event.isComposing && event.target.matches(FILTER)) event.stopPropagation();
  }, true);
  document.addEventListener("compositionend", (event) => {
    if (event.target.matches(FILTER)) event.target.dispatchEvent(new Event("input", { bubbles: true }));
  });
  // The address of a list says what was asked for, and nothing of what was not.
  document.addEventListener("htmx:configRequest", ({ detail }) => {
    if (detail.verb !== "get" || !detail.elt.matches("form[role=search]")) return;
    for (const [name, value] of [...detail.parameters.entries()]) {
      if (value === "") detail.parameters.delete(name);
    }
  });

  function closeOnEscape(event) {
    const open = document.querySelector("details:is(.menu, .confirm)[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    } else if (event.target.matches("[data-filter]")) {
      if (event.target.value) {
        // Not every browser empties the box by itself, nor tells the list when it does.
        event.preventDefault();
        event.target.value = "";
        event.target.dispatchEvent(new Event("input", { bubbles: true }));
      } else event.target.blur();
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      closeOnEscape(event);
      return;
    }
    if (event.key === "ArrowDown" && event.target.matches(FILTER)) {
      event.preventDefault();
      moveRow(1);
      return;
    }
    // A box that is ticked takes no letters; in everything else people write.
    if (event.target.closest("input:not([type=checkbox]), select, textarea, [contenteditable], dialog[open]")) return;
    if (remembered("shortcuts") === "off") return;
    if (goUntil > Date.now()) {
      goUntil = 0;
      const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (link) {
        event.preventDefault();
        link.click();
      }
    } else if (event.key === "g") {
      goUntil = Date.now() + 1500;
    } else if (Object.hasOwn(keys, event.key) ? keys[event.key]() : pressByKey(event.key)) {
      event.preventDefault();
    }
  });

  /* ---- htmx ------------------------------------------------------------------------------------------ */

  // A whole page in place of a part means that the session has ended: show it as a page.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (/^\s*<!doctype/i.test(event.detail.xhr.responseText)) {
      event.detail.shouldSwap = false;
      window.location.reload();
    }
  });
  // A live update must not close what somebody is just using; it comes when they are done.
  const postponed = new Set();
  const inUse = (part) =>
    part.querySelector("details.confirm[open], select:focus") ||
    // A choice that is made but not saved yet.
    [...part.querySelectorAll("option")].some((option) => option.selected !== option.defaultSelected);
  document.addEventListener("htmx:beforeRequest", (event) => {
    const name = event.detail.requestConfig.triggeringEvent?.type ?? "";
    if (name.startsWith("live:") && inUse(event.detail.target)) {
      event.preventDefault();
      postponed.add(name);
    }
  });
  document.addEventListener("focusout", () => {
    for (const name of postponed) {
      setTimeout(() => document.body.dispatchEvent(new CustomEvent(name)), 1000);
    }
    postponed.clear();
  });
  // What somebody unfolded stays open when its part of the page is replaced.
  const unfolded = new Set();
  document.addEventListener("htmx:beforeSwap", (event) => {
    for (const { id } of event.detail.target.querySelectorAll("details[id][open]")) unfolded.add(id);
  });
  document.addEventListener("htmx:load", (event) => {
    for (const details of event.detail.elt.querySelectorAll("details[id]")) {
      if (unfolded.delete(details.id)) details.open = true;
    }
    reveal(event.detail.elt);
  });

  /* ---- What somebody wrote ----------------------------------------------------------------------------- */

  // A form with room for a text: leaving it takes a second word. If the session had ended when it was
  // sent, what was written is there again after signing in.
  const DRAFT = "draft";
  const texts = () => [...document.querySelectorAll("main form[method=post]:has(textarea)")];
  const fields = (form) =>
    [...form.elements].filter((field) =>
      field.name && field.matches("textarea:not([data-secret]), select, input[type=text]"));
  const isChanged = (field) =>
    field.options
      ? [...field.options].some((option) => option.selected !== option.defaultSelected)
      : field.value !== field.defaultValue;
  let leaving = false;
  document.addEventListener("submit", ({ target, defaultPrevented }) => {
    if (defaultPrevented) return;
    leaving = true;
    if (!texts().includes(target)) return;
    const values = fields(target).map(({ name, value }) => [name, value]);
    const draft = { page: window.location.pathname, form: texts().indexOf(target), values };
    try {
      sessionStorage.setItem(DRAFT, JSON.stringify(draft));
    } catch {
      // Too long to be kept; it is sent all the same.
    }
  });
  window.addEventListener("pageshow", () => { leaving = false; });
  window.addEventListener("beforeunload", (event) => {
    if (!leaving && texts().some((form) => fields(form).some(isChanged))) event.preventDefault();
  });
  if (!document.querySelector("main form input[name=next]")) {
    const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");
    sessionStorage.removeItem(DRAFT);
    const form = draft?.page === window.location.pathname && texts()[draft.form];
    for (const [name, value] of form ? draft.values : []) {
      const field = form.elements.namedItem(name);
      if (field?.value !== undefined) field.value = value;
    }
  }

  reveal(document);
  // A refused form: begin where the first mistake is.
  document.querySelector("main [aria-invalid=true]")?.focus();
  // On a phone the tabs scroll sideways: the current one must be in sight. The page itself stays where
  // it was opened, which may be further down.
  for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
    const [bar, here] = [tab.parentElement, tab.getBoundingClientRect()];
    const { left, width } = bar.getBoundingClientRect();
    bar.scrollLeft += here.left + here.width / 2 - left - width / 2;
  }
  setInterval(() => refreshTimes(document), 30_000);
})();
