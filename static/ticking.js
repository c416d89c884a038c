/* Counts on how long ago something was, as the last progress of a run. The server gives the words,
   with noughts where the figures belong; without this file the page shows what was true when it was made. */
(() => {
  "use strict";

  const MINUTE = 60;
  const HOUR = 3600;

  function words(time, seconds) {
    const { seconds: inSeconds, minutes, hours } = time.dataset;
    if (seconds < MINUTE) return inSeconds.replace("0", seconds);
    if (seconds < HOUR) return minutes.replace("0", Math.floor(seconds / MINUTE));
    const figures = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE)];
    return hours.replace(/0/g, () => figures.shift());
  }

  // Clocks differ: the first figure is the server's, and only what passes since is measured here.
  const seen = new WeakMap();

  function tick() {
    for (const time of document.querySelectorAll("time[data-ticking]")) {
      if (!seen.has(time)) seen.set(time, performance.now() - 1000 * Number(time.dataset.ticking));
      const text = words(time, Math.floor((performance.now() - seen.get(time)) / 1000));
      if (time.textContent !== text) time.textContent = text;
    }
  }

  setInterval(tick, 1000);
})();
