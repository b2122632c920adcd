"use strict";
// A click on a column sorts by it, the next click the other way round. Numbers begin with the largest.
function value(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
}
for (const table of document.querySelectorAll("table.sorted")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const first = head.classList.contains("n") ? "descending" : "ascending";
    const second = first === "descending" ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows];
    rows.sort((one, other) => {
      const [a, b] = [value(one, column), value(other, column)];
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    });
    table.tBodies[0].append(...rows);
  }));
}
// A row matches if it has all words of the filter; rows that cost nothing are searched, too.
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  document.body.classList.toggle("filtered", filter.value.trim() !== "");
  for (const row of document.querySelectorAll("tbody tr")) {
    const text = row.textContent.toLowerCase();
    row.classList.toggle("unmatched", !words.every((word) => text.includes(word)));
  }
});
const all = document.getElementById("all");
all.addEventListener("change", () => document.body.classList.toggle("all", all.checked));
document.body.classList.toggle("all", all.checked);
