/* Keeps a page of a project, or of the operators, up to date.

   The element with data-live-url says where the feed is, which number the page was made at
   (data-live-after) and the words for each state. Events become DOM events on <body>, at most one
   of a kind each half second; parts of the page listen with hx-trigger="live:documents from:body":
     live:documents, live:members, live:project, …   by the part of the type before the dot
     live:work                                       for the progress of background work
     live:glance                                     for the same, seldom: for parts that only count
     live:index                                      for changes of the search index
     live:run, live:runs                             for each step of a run; and seldom, for its tables
     live:collection, live:collections               the same of a collection of repositories
     live:activity                                   for every other event
   While the socket is down the page asks the REST endpoint (data-live-poll) every few seconds, where
   there is one. With data-live-every="10" the parts are told every ten seconds in any case: where no
   worker runs, nobody tells the feed that things stand still. */
(() => {
  "use strict";

  const status = document.querySelector("[data-live-url]");
  if (!status) return;

  const ACCESS_LOST = 4403;
  const SILENCE = 45_000;      // the server says something at least every 20 s
  const POLL = 5_000;
  const RETRY = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
  const QUIET = 500;
  const SELDOM = 3_000;
  const EVERYTHING = ["documents", "members", "project", "activity", "work", "index", "operations", "terms", "glossary", "run", "runs", "collection", "collections", "repositories", "authors", "commits"];

  let last = Number(status.dataset.liveAfter);
  let socket = null;
  let heard = 0;
  let failures = 0;
  let retryTimer = 0;
  let pollTimer = 0;
  let over = false;

  function show(state) {
    if (status.dataset.state === state && status.textContent) return;
    status.dataset.state = state;
    status.textContent = status.dataset[`text${state.replace(/^./, (c) => c.toUpperCase())}`];
  }

  /* ---- Telling the page ------------------------------------------------------------------- */

  const told = new Map();
  const waiting = new Map();

  function tell(name, quiet = QUIET) {
    if (waiting.has(name)) return;
    const dispatch = () => {
      if (isBeingReplaced(name)) {
        waiting.set(name, setTimeout(dispatch, AGAIN));
        return;
      }
      waiting.delete(name);
      told.set(name, Date.now());
      document.body.dispatchEvent(new CustomEvent(`live:${name}`));
    };
    const wait = Math.max(0, (told.get(name) ?? 0) + quiet - Date.now());
    waiting.set(name, setTimeout(dispatch, wait));
  }

  // A part that waits for its next version was asked for before this event, and does not hear of it
  // any more: its successor does. So the event waits until that one is there and listens.
  const AGAIN = 100;
  const asked = new Map();
  document.body.addEventListener("htmx:beforeSend", ({ detail }) => asked.set(detail.xhr, detail.target));
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    setTimeout(() => asked.delete(detail.xhr), AGAIN);
  });

  // Nor is a part replaced under somebody's finger, or while what they asked for is on its way: the
  // click would be lost with what was pressed, and the answer with the part that it was for.
  let pressed = false;
  const sent = new Set();
  const missed = new Set();
  const liveName = ({ requestConfig }) => /^live:(.*)/.exec(requestConfig?.triggeringEvent?.type ?? "")?.[1];
  function makeUp() {
    if (pressed || sent.size) return;
    missed.forEach((name) => tell(name));
    missed.clear();
  }
  document.addEventListener("pointerdown", (event) => { pressed = event.button === 0; }, true);
  const released = () => setTimeout(() => {
    pressed = false;
    makeUp();
  });
  ["pointerup", "pointercancel"].forEach((type) => document.addEventListener(type, released, true));
  // One that was let go of elsewhere is not heard of.
  window.addEventListener("blur", released);
  document.body.addEventListener("htmx:beforeSend", ({ detail }) => {
    if (!liveName(detail)) sent.add(detail.xhr);
  });
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (sent.delete(detail.xhr)) makeUp();
  });
  document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const name = liveName(detail);
    if (!(pressed || sent.size) || !name) return;
    detail.shouldSwap = false;
    missed.add(name);
  });

  function isBeingReplaced(name) {
    const hears = `[hx-trigger*="live:${name} "]`;
    return [...asked.values()].some((part) => part.matches(hears) || part.querySelector(hears));
  }

  const FOLDED = { document: "documents", member: "members", repository: "repositories" };
  const WORK = /^(job\.|llm\.(progress|changed)$)/;

  function take(events) {
    for (const event of events) {
      if (event.number <= last) continue;
      last = event.number;
      if (WORK.test(event.type)) {
        tell("work");
        tell("glance", SELDOM);
      } else if (event.type.startsWith("index.")) {
        tell("index");
      } else if (event.type.startsWith("run.")) {
        tell("run");
        tell("runs", SELDOM);
        if (event.type !== "run.progress") tell("activity");
      } else if (event.type.startsWith("collection.")) {
        tell("collection");
        if (event.type === "collection.progress") tell("collections", SELDOM);
        else ["collections", "activity"].forEach((name) => tell(name));
      } else {
        const kind = event.type.split(".")[0];
        tell(FOLDED[kind] ?? kind);
        tell("activity");
      }
    }
  }

  const tellAll = () => EVERYTHING.forEach((name) => tell(name));

  /* ---- The socket ----------------------------------------------------------------------------- */

  function connect() {
    clearTimeout(retryTimer);
    if (over || socket) return;
    const url = new URL(status.dataset.liveUrl, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.searchParams.set("after", last);
    const mine = new WebSocket(url);
    socket = mine;
    heard = Date.now();
    mine.addEventListener("open", () => {
      if (socket !== mine) return;
      heard = Date.now();
      failures = 0;
      stopPolling();
      show("live");
    });
    mine.addEventListener("message", (message) => {
      if (socket !== mine) return;
      heard = Date.now();
      const frame = JSON.parse(message.data);
      if (frame.type === "events") take(frame.events);
      else if (frame.type === "snapshot") {
        // Too old to continue from, or new: whatever the page shows may have changed.
        last = frame.number;
        tellAll();
      }
    });
    mine.addEventListener("close", (event) => {
      if (socket === mine) down(event.code);
    });
  }

  function down(code) {
    socket = null;
    if (code === ACCESS_LOST) {
      lost();
      return;
    }
    show(pollTimer && status.dataset.state === "polling" ? "polling" : "reconnecting");
    const delay = RETRY[Math.min(failures, RETRY.length - 1)];
    failures += 1;
    // A little chance, so that a restarted server is not greeted by all pages at once.
    retryTimer = setTimeout(connect, delay * (0.75 + Math.random() / 2));
    if (!pollTimer && status.dataset.livePoll) pollTimer = setTimeout(poll, failures > 1 ? 0 : POLL);
  }

  function lost() {
    over = true;
    stopPolling();
    clearTimeout(retryTimer);
    socket?.close();
    socket = null;
    show("lost");
    // Put in only now: an alert is read out when its words appear.
    const banner = document.querySelector("[data-live-lost]");
    banner.append(banner.querySelector("template").content.cloneNode(true));
  }

  // A connection can die without a word (sleep, a pulled cable): silence tells.
  setInterval(() => {
    if (socket && Date.now() - heard > SILENCE) {
      const silent = socket;
      down(0);
      silent.close();
    }
  }, 5_000);

  /* ---- Polling while the socket is down ------------------------------------------------------------ */

  function stopPolling() {
    clearTimeout(pollTimer);
    pollTimer = 0;
  }

  async function poll() {
    const mine = pollTimer;
    let next = POLL;
    try {
      const url = new URL(status.dataset.livePoll, location.href);
      url.searchParams.set("after", last);
      const response = await fetch(url, { headers: { Accept: "application/json" } });
      if (pollTimer !== mine) return;
      if ([401, 403, 404].includes(response.status)) {
        lost();
        return;
      }
      if (!response.ok) throw new Error(`status ${response.status}`);
      const page = await response.json();
      if (pollTimer !== mine) return;
      if (page.pruned > last) {
        last = page.last;
        tellAll();
      } else {
        take(page.events);
        if (page.events.length && last < page.last) next = 0;
      }
      show("polling");
    } catch {
      if (pollTimer !== mine) return;
      show("reconnecting");
    }
    pollTimer = setTimeout(poll, next);
  }

  /* ---- Coming and going --------------------------------------------------------------------------------- */

  const retryNow = () => {
    if (!over && !socket && !document.hidden) connect();
  };
  window.addEventListener("online", retryNow);
  document.addEventListener("visibilitychange", retryNow);
  // A page kept for the back button must not hold a socket, and wakes with the number it had.
  window.addEventListener("pagehide", () => {
    const open = socket;
    socket = null;
    clearTimeout(retryTimer);
    stopPolling();
    open?.close();
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });

  const every = Number(status.dataset.liveEvery ?? 0);
  if (every) {
    setInterval(() => {
      if (!over && !document.hidden) tellAll();
    }, every * 1000);
  }

  show("connecting");
  // Not before htmx, which was first to wait for this, hears what is told: on a slow day the socket is
  // quicker than the scripts that are still to come.
  document.addEventListener("DOMContentLoaded", connect);
})();
