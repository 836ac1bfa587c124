// The lead's page: what the labels say so far, and who gave them.

import {call} from "./api.js";
import {at, make} from "./dom.js";
import {Live} from "./live.js";
import {Panel} from "./panel.js";
import {toggleTheme, wearTheme} from "./theme.js";

const RETRY = 2_000;

function show(title, text) {
  at("live").replaceChildren(make("div", {class: "rest", "data-why": "trouble"}, make("h2", {}, title), make("p", {}, text)));
}

/** The campaign, as soon as the server answers; null for people who do not lead it. */
async function theCampaign() {
  for (;;) {
    try {
      const campaign = await call("api/campaign");
      return campaign.role === "lead" ? campaign : null;
    } catch (error) {
      if (error.status === 401) return null;
      show("No connection", `${error.message}. Trying again.`);
      await new Promise(resolve => setTimeout(resolve, RETRY));
    }
  }
}

async function begin() {
  wearTheme();
  at("theme").addEventListener("click", toggleTheme);
  const campaign = await theCampaign();
  if (!campaign) {
    show("This is the lead's desk", "It opens with the lead's link, which was printed when the server was started.");
    return;
  }
  document.title = `${campaign.title}: desk`;
  at("title").textContent = campaign.title;
  const panel = new Panel(campaign);
  new Live("api/desk/state", state => panel.show(state)).begin();
}

begin();
