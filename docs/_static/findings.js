// On the page of findings: choose a lesson and a verdict, and only those stay. A link to one finding opens it.

function fill(name, values) {
  const select = document.createElement("select");
  for (const value of ["all", ...values]) select.add(new Option(value, value));
  const label = document.createElement("label");
  label.append(`${name} `, select);
  return [label, select];
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("findings-filter");
  if (!place) return;
  const findings = [...document.querySelectorAll(".finding")];
  const unique = (values) => [...new Set(values)].sort();
  const [lessonLabel, lesson] = fill("Lesson", unique(findings.flatMap((one) => one.dataset.lessons.split(" "))));
  const [verdictLabel, verdict] = fill("Verdict", unique(findings.map((one) => one.dataset.verdict)));
  const count = document.createElement("output");
  place.append(lessonLabel, verdictLabel, count);

  const show = () => {
    for (const one of findings) {
      one.hidden =
        !(lesson.value === "all" || one.dataset.lessons.split(" ").includes(lesson.value)) ||
        !(verdict.value === "all" || one.dataset.verdict === verdict.value);
    }
    // A lesson's heading goes when none of its findings is left.
    for (const section of document.querySelectorAll("section:has(> .finding)")) {
      section.hidden = !section.querySelector(".finding:not([hidden])");
    }
    const shown = findings.filter((one) => !one.hidden).length;
    count.textContent = shown ? `${shown} of ${findings.length} findings` : "No finding has both. Choose “all” for one of the two.";
  };
  place.addEventListener("change", show);
  show();

  // In the table on top, each verdict leads to its claims.
  for (const cell of document.querySelectorAll("article table td:first-child:not(:has(strong))")) {
    const link = document.createElement("a");
    Object.assign(link, { href: "#all-of-them", textContent: cell.textContent });
    link.addEventListener("click", () => {
      [lesson.value, verdict.value] = ["all", cell.textContent];
      show();
    });
    cell.replaceChildren(link);
  }

  const open = () => {
    const asked = document.getElementById(location.hash.slice(1));
    if (!asked?.classList.contains("finding")) return;
    if (asked.hidden) {
      lesson.value = verdict.value = "all";
      show();
    }
    asked.querySelector("details").open = true;
    asked.scrollIntoView();
  };
  addEventListener("hashchange", open);
  // Not before the pictures are there: those above would push it out of sight.
  Promise.allSettled([...document.images].map((image) => image.decode())).then(open);
});
