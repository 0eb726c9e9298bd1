/** What the first picture does not need: it comes right after, in one file. */

import style from "./aside.css";

export { RunDetails } from "../../widgets/run-details.tsx";
export { Cross } from "./cross.tsx";
export { Cursor } from "./cursor.tsx";
export { attachGestures } from "./gestures.ts";
export { Help } from "./help.tsx";
export { attachKeys } from "./keys.ts";
export { LimitsForm } from "./limits-form.tsx";
export { ModelMenu, MoreMenu, StatisticMenu } from "./menus.tsx";
export { Pane } from "./panes.tsx";
export { Past } from "./past.tsx";
export { Rail } from "./rail.tsx";
export { Reading } from "./reading.tsx";

const sheet = document.createElement("style");
sheet.textContent = style;
document.head.append(sheet);
