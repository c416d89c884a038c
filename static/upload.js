/* Sends files and whole folders in small batches, and tells for each what became of it.
   Words come from the form's data attributes, rows from the server. Without this file the form
   still sends the chosen files. */
(() => {
  "use strict";

  const form = document.getElementById("upload");
  if (!form) return;
  const BATCH_FILES = 50;
  const BATCH_BYTES = 8 * 1024 * 1024;
  const find = (selector) => document.querySelector(selector);
  const zone = form.querySelector("[data-dropzone]");
  const panel = find("[data-upload-state]");
  const bar = panel.querySelector("progress");
  const note = panel.querySelector("[data-note]");
  const announce = panel.querySelector("[data-announce]");
  const results = panel.querySelector("[data-results]");
  const stopButton = panel.querySelector("[data-stop]");
  const retryButton = panel.querySelector("[data-retry]");
  const finished = panel.querySelector("[data-finished]");
  const limits = {
    fileBytes: Number(form.dataset.maxFileBytes),
    archiveBytes: Number(form.dataset.maxArchiveBytes),
    files: Number(form.dataset.maxFiles),
  };

  let queue = [];            // {file, path}, not yet sent
  let failed = [];           // could not be sent; can be tried again
  let request = null;
  let running = false;
  let total = { files: 0, bytes: 0 };
  let done = { files: 0, bytes: 0 };
  let counts = {};

  const words = (name, values = {}) =>
    form.dataset[`text${name}`].replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);

  /* ---- What is shown ----------------------------------------------------------------------- */

  function say(text, aloud = true) {
    note.textContent = text;
    if (aloud) announce.textContent = text;
  }

  function showProgress(loaded = 0) {
    // A file counts at least a little, so that a thousand empty ones move the bar too.
    const percent = total.files
      ? Math.min(100, Math.floor((100 * (done.bytes + loaded + done.files)) / (total.bytes + total.files)))
      : 0;
    bar.value = percent;
    say(words("Progress", { done: done.files, total: total.files, percent: `${percent}%` }), false);
  }

  const wrong = (row) => ["refused", "failed"].includes(row.dataset.outcome);

  function append(nodes) {
    // What went wrong is what somebody must do something about: it stands before all the rest.
    let lastWrong = null;
    for (const row of results.children) {
      if (!wrong(row)) break;
      lastWrong = row;
    }
    for (const row of [...nodes]) {
      counts[row.dataset.outcome] = (counts[row.dataset.outcome] ?? 0) + 1;
      if (!wrong(row)) results.append(row);
      else {
        if (lastWrong) lastWrong.after(row);
        else results.prepend(row);
        lastWrong = row;
      }
    }
  }

  function appendOwn(kind, path, reason) {
    const row = document.getElementById(`${kind}-row`).content.firstElementChild.cloneNode(true);
    row.querySelector(".path").textContent = path;
    row.querySelector(".reason").textContent = reason;
    append([row]);
  }

  /* ---- Collecting ----------------------------------------------------------------------------- */

  const entryFile = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

  async function readFolder(entry) {
    const reader = entry.createReader();
    const all = [];
    // A browser hands over a folder in portions; an empty one is the end.
    for (;;) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return all;
      all.push(...some);
    }
  }

  async function collect(entries) {
    const items = [];
    const unreadable = [];
    const left = [...entries];
    while (left.length && items.length <= limits.files) {
      const entry = left.shift();
      const path = entry.fullPath.replace(/^\//, "");
      try {
        if (entry.isDirectory) left.unshift(...(await readFolder(entry)));
        else items.push({ file: await entryFile(entry), path });
      } catch {
        unreadable.push(path);
      }
    }
    return { items, unreadable };
  }

  function fromPicker(input) {
    const items = [...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
    input.value = "";
    take(items);
  }

  async function drop(transfer) {
    // Entries must be asked for at once: the browser empties the list when this turn ends.
    const entries = [...transfer.items]
      .filter((item) => item.kind === "file")
      .map((item) => item.webkitGetAsEntry?.())
      .filter(Boolean);
    if (!entries.length) {
      take([...transfer.files].map((file) => ({ file, path: file.name })));
      return;
    }
    open();
    if (!running) say(words("Reading"));
    const { items, unreadable } = await collect(entries);
    take(items, unreadable);
  }

  function tooLarge({ file, path }) {
    if (/\.zip$/i.test(path)) return file.size > limits.archiveBytes ? words("ArchiveTooLarge") : "";
    return file.size > limits.fileBytes ? words("TooLarge") : "";
  }

  function open() {
    panel.hidden = false;
    if (running) return;
    finished.hidden = true;
    stopButton.hidden = true;
    bar.value = 0;
  }

  function take(items, unreadable = []) {
    open();
    if (!items.length && !unreadable.length) {
      if (!running) say(words("Nothing"));
      return;
    }
    if (items.length > limits.files) {
      if (!running) say(words("TooMany", { count: items.length }));
      return;
    }
    for (const path of unreadable) appendOwn("refused", path, words("Unreadable"));
    const good = [];
    // The order a folder is handed over in is nobody's; sorted, the rows can be read.
    for (const item of items.toSorted((a, b) => (a.path > b.path) - (a.path < b.path))) {
      const reason = tooLarge(item);
      if (reason) appendOwn("refused", item.path, reason);
      else good.push(item);
    }
    start(good);
  }

  /* ---- Sending ----------------------------------------------------------------------------------- */

  function start(items) {
    queue.push(...items);
    total.files += items.length;
    total.bytes += items.reduce((sum, { file }) => sum + file.size, 0);
    if (!running) run();
  }

  function nextBatch() {
    const batch = [];
    let bytes = 0;
    while (queue.length && batch.length < BATCH_FILES) {
      if (batch.length && bytes + queue[0].file.size > BATCH_BYTES) break;
      bytes += queue[0].file.size;
      batch.push(queue.shift());
    }
    return { batch, bytes };
  }

  function send(batch, bytes) {
    const body = new FormData();
    body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    for (const { file, path } of batch) {
      body.append("files", file, file.name);
      body.append("paths", path);
    }
    return new Promise((resolve) => {
      request = new XMLHttpRequest();
      request.open("POST", form.action);
      request.setRequestHeader("X-Requested-With", "XMLHttpRequest");
      request.upload.addEventListener("progress", (event) => {
        showProgress(event.total ? (bytes * event.loaded) / event.total : 0);
      });
      request.addEventListener("load", () => resolve({ status: request.status, html: request.responseText }));
      request.addEventListener("error", () => resolve({ status: 0, html: "" }));
      request.addEventListener("abort", () => resolve({ status: -1, html: "" }));
      request.send(body);
    });
  }

  function rowsOf(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    return holder.content.querySelectorAll("li[data-outcome]");
  }

  async function run() {
    running = true;
    stopButton.hidden = false;
    retryButton.hidden = true;
    let stopped = false;
    showProgress();
    announce.textContent = note.textContent;
    while (queue.length) {
      const { batch, bytes } = nextBatch();
      const { status, html } = await send(batch, bytes);
      // A whole page means that something else answered: a sign-in, an error.
      const rows = status > 0 && !/^\s*<!doctype/i.test(html) ? rowsOf(html) : [];
      if (status === -1) {
        stopped = true;
        for (const { path } of batch) appendOwn("failed", path, words("Unknown"));
      } else if (rows.length || status === 200) {
        append(rows);
      } else {
        const reason = status ? words("Error", { status }) : words("Failed");
        for (const { path } of batch) appendOwn("failed", path, reason);
        failed.push(...batch);
        // The next batch would most likely meet the same fate.
        for (const { path } of queue) appendOwn("failed", path, reason);
        failed.push(...queue);
        queue = [];
      }
      done.files += batch.length;
      done.bytes += bytes;
      showProgress();
    }
    request = null;
    running = false;
    finish(stopped);
  }

  function finish(stopped) {
    const left = total.files - done.files;
    const shown = { created: 0, updated: 0, unchanged: 0, refused: 0, ...counts };
    if (stopped) say(words("Stopped", { left }));
    else say(words(failed.length ? "Unfinished" : "Done", { ...shown, failed: failed.length }));
    stopButton.hidden = true;
    retryButton.hidden = !failed.length;
    finished.hidden = false;
    total = { files: 0, bytes: 0 };
    done = { files: 0, bytes: 0 };
    counts = {};
  }

  stopButton.addEventListener("click", () => {
    queue = [];
    request?.abort();
  });

  retryButton.addEventListener("click", () => {
    for (const row of results.querySelectorAll('[data-outcome="failed"]')) row.remove();
    const again = failed;
    failed = [];
    start(again);
  });

  /* ---- Doors ---------------------------------------------------------------------------------------- */

  form.querySelector("[data-files]").addEventListener("change", (event) => fromPicker(event.target));
  form.querySelector("[data-folder]").addEventListener("change", (event) => fromPicker(event.target));
  form.addEventListener("submit", (event) => event.preventDefault());

  // Files may be let go anywhere on the page; beside the zone the browser would open them.
  const brings = (event) => event.dataTransfer?.types.includes("Files");
  let depth = 0;
  document.addEventListener("dragenter", (event) => {
    if (!brings(event)) return;
    depth += 1;
    zone.classList.add("is-over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!brings(event)) return;
    depth = Math.max(0, depth - 1);
    if (!depth) zone.classList.remove("is-over");
  });
  document.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  document.addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    depth = 0;
    zone.classList.remove("is-over");
    drop(event.dataTransfer);
  });

  window.addEventListener("beforeunload", (event) => {
    if (running) event.preventDefault();
  });
})();
