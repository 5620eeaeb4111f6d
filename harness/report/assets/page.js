"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const value = (selector, otherwise) => one(selector)?.value ?? otherwise;

  // Which table, which rank, which metric: everything that is shown follows from these.
  const show = () => {
    const place = value("#pick-place", "1");
    const k = value("#pick-k", "");
    const metric = value("#pick-metric", null);
    for (const each of all(".place")) each.hidden = each.dataset.place !== place;
    for (const cell of all(".results [data-k]")) {
      cell.hidden = k !== "" && cell.dataset.k !== "" && cell.dataset.k !== k;
    }
    for (const plot of all(".plot")) {
      let shown = 0;
      for (const figure of all("figure", plot)) {
        const drawn = figure.dataset.label;
        const fits = metric === null || drawn === metric || (figure.dataset.family !== undefined
          && metric.includes("@") && drawn.split("@")[0] === metric.split("@")[0]);
        figure.hidden = figure.dataset.place !== place || !fits;
        shown += figure.hidden ? 0 : 1;
      }
      plot.hidden = shown === 0;
    }
    // A section that shows nothing of this table has no heading and no link either.
    for (const section of all("main > section")) {
      const parts = all(".place, .plot", section);
      section.hidden = parts.length > 0 && parts.every((part) => part.hidden);
    }
    for (const link of all("nav a")) {
      link.parentElement.hidden = one(link.getAttribute("href"))?.hidden === true;
    }
    const hidden = new Set(all("input[data-row]").filter((box) => !box.checked).map((box) => box.dataset.row));
    for (const row of all("tbody tr[data-row]")) row.hidden = hidden.has(row.dataset.row);
    hint();
    document.body.classList.toggle("no-intervals", one("#show-intervals")?.checked === false);
    document.body.classList.toggle("no-spreads", one("#show-spreads")?.checked === false);
  };

  // The rank that is picked for the table is the one that the plots show, where there is one.
  const follow = () => {
    const picker = one("#pick-metric");
    const k = value("#pick-k", "");
    if (!picker || k === "") return;
    const wanted = `${picker.value.split("@")[0]}@${k}`;
    if (all("option", picker).some((option) => option.value === wanted)) picker.value = wanted;
  };

  const sort = (header) => {
    const table = header.closest("table");
    const column = [...header.parentElement.children].indexOf(header);
    const before = header.getAttribute("aria-sort");
    const turned = { ascending: "descending", descending: "ascending" };
    const way = before ? turned[before] : header.dataset.first ?? "ascending";
    for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", way);
    const sign = way === "ascending" ? 1 : -1;
    const key = (row) => {
      const cell = row.children[column];
      if (header.dataset.sort === "text") return cell.textContent.trim().toLowerCase();
      return cell.dataset.value === "" ? null : Number(cell.dataset.value);
    };
    const rows = all("tbody tr", table).map((row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (a < b ? -1 : a > b ? 1 : 0);
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };

  const said = (button, word) => {
    const before = button.textContent;
    button.textContent = word;
    setTimeout(() => { button.textContent = before; }, 1500);
  };

  const copy = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
      said(button, "Copied");
    } catch {
      said(button, "Select and copy");
    }
  };

  const save = (button, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    link.download = button.dataset.save.replace(/[^\w.-]+/g, "-");
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // Say above a table that is wider than its box that there are more columns.
  const hint = () => {
    for (const box of all(".scroll")) {
      const hinted = box.previousElementSibling?.classList.contains("sideways");
      const wide = box.scrollWidth > box.clientWidth + 1;
      if (wide && !hinted) {
        const note = document.createElement("p");
        note.className = "sideways";
        note.textContent = "More columns: scroll sideways \u2192";
        box.before(note);
      } else if (!wide && hinted && box.clientWidth > 0) box.previousElementSibling.remove();
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.closest(".results thead")) sort(button.closest("th"));
    else if (button.id === "all-rows") {
      for (const box of all("input[data-row]")) box.checked = true;
      show();
    } else if ("copyBefore" in button.dataset) copy(button, button.previousElementSibling.textContent);
    else if ("copy" in button.dataset) copy(button, button.closest("details").querySelector("pre").textContent);
    else if ("save" in button.dataset) save(button, button.closest("details").querySelector("pre").textContent);
  });
  document.addEventListener("toggle", hint, true);
  window.addEventListener("resize", hint);
  document.addEventListener("change", (event) => {
    if (event.target.id === "pick-k") follow();
    show();
  });
  show();

  // A table wider than the window begins with the rank that the plots begin with.
  const rank = value("#pick-metric", "").split("@")[1];
  const wide = all("#table .place:not([hidden]) .scroll").some((box) => box.scrollWidth > box.clientWidth);
  if (wide && rank && one("#pick-k")) {
    one("#pick-k").value = rank;
    show();
  }
})();
