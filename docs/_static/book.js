// What is wider than the page scrolls; it must be reached by keyboard, too.
function makeScrollable() {
  for (const part of document.querySelectorAll(".cell_output div, .cell_output pre")) {
    if (part.scrollWidth > part.clientWidth && getComputedStyle(part).overflowX === "auto") {
      part.tabIndex = 0;
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  // A fold is called what stands on it, not "Toggle hidden content"; and so is the search button.
  for (const named of document.querySelectorAll("details.hide > summary, .search-button-field")) {
    named.removeAttribute("aria-label");
  }
  // The arrow that unfolds a folder in the sidebar has no name.
  for (const arrow of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const folder = arrow.closest("li").querySelector("a").textContent;
    arrow.setAttribute("aria-label", `Pages of ${folder}`);
  }
  // An empty corner of a table is no heading.
  for (const head of document.querySelectorAll("thead th")) {
    if (!head.textContent.trim()) {
      const corner = document.createElement("td");
      corner.className = head.className;
      head.replaceWith(corner);
    }
  }
  makeScrollable();
});
window.addEventListener("resize", makeScrollable);
document.addEventListener("toggle", makeScrollable, true);
