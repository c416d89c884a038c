/* Beside a document: the section that is being read, and a link to each section. */
(() => {
  "use strict";

  const text = document.querySelector(".prose");
  if (!text) return;
  const headings = [...text.querySelectorAll(":is(h1, h2, h3, h4, h5, h6)[id]")];

  for (const heading of headings) {
    const link = document.createElement("a");
    link.className = "heading-anchor";
    link.href = `#${encodeURIComponent(heading.id)}`;
    link.textContent = "#";
    link.setAttribute("aria-label", `${text.dataset.anchorLabel}: ${heading.textContent}`);
    heading.append(link);
  }

  const links = new Map();
  for (const link of document.querySelectorAll("[data-toc] a")) {
    links.set(decodeURIComponent(link.hash.slice(1)), link);
  }
  if (!links.size) return;
  const box = document.querySelector("[data-toc]");
  let current = null;

  function mark(link) {
    if (link === current) return;
    current?.removeAttribute("aria-current");
    current = link;
    if (!link) return;
    link.setAttribute("aria-current", "true");
    // The list may be longer than the window: keep the mark in sight, without moving the page.
    const top = link.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
    if (top < box.scrollTop || top + link.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = top - box.clientHeight / 3;
    }
  }

  // The section being read began at the last heading above the upper third of the window.
  function find() {
    const line = window.innerHeight / 3;
    let found = null;
    for (const heading of headings) {
      if (!links.has(heading.id)) continue;
      if (heading.getBoundingClientRect().top > line) break;
      found = heading;
    }
    mark(found ? links.get(found.id) : null);
  }

  const observer = new IntersectionObserver(find, { rootMargin: "0px 0px -66% 0px", threshold: [0, 1] });
  for (const heading of headings) observer.observe(heading);
  window.addEventListener("hashchange", find);
  find();
})();
