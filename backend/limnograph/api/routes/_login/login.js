// Sends the token to the server, which answers with a cookie and a path of its own.
const form = document.getElementById("login");
const problem = document.getElementById("problem");
// A login link has the token in its fragment, which the server never sees and which leaves the address at once.
const [, linked = ""] = (location.pathname === "/login/link" && /^#(lmn_[\w-]+)$/.exec(location.hash)) || [];
if (linked) history.replaceState(null, "", location.pathname + location.search);
// A browser that was sent here keeps the fragment of the link that it followed.
const asked = (new URLSearchParams(location.search).get("next") ?? "/") + location.hash;

const provider = document.querySelector("a.button");
if (provider && location.hash) {
  const start = new URL(provider.href);
  start.searchParams.set("next", asked);
  provider.href = start.href;
}

async function enter(token) {
  const answer = await fetch("/api/v1/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, next: asked }),
  });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.detail ?? found.title);
  location.replace(found.next);
}

function enterOrSay(token) {
  problem.textContent = "";
  enter(token).catch((error) => {
    problem.textContent = error.message;
    form.elements.token.select();
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  enterOrSay(form.elements.token.value.trim());
});
if (linked) enterOrSay(linked);
