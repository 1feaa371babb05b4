// Sends the token to the server, which answers with a cookie and a path of its own.
const form = document.getElementById("login");
const problem = document.getElementById("problem");
// A browser that was sent here keeps the fragment of the link that it followed; the server never saw it.
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

form.addEventListener("submit", (event) => {
  event.preventDefault();
  problem.textContent = "";
  enter(form.elements.token.value.trim()).catch((error) => {
    problem.textContent = error.message;
    form.elements.token.select();
  });
});
