// What the server answers, as keybearer.cli.dashboard.view has it. The server decides; the page only draws.

export interface Cell {
  text: string;
  at: string | null;
}

export interface Detail extends Cell {
  label: string;
  command: string;
}

export interface Row {
  key: string;
  title: string;
  tone: "bad" | "waiting" | "good" | "idle";
  cells: Cell[];
  details: Detail[];
}

export interface View {
  name: string;
  heading: string;
  summary: string;
  columns: string[];
  rows: Row[];
  total: number;
  page: number;
  pages: number;
  notes: string[];
}

export interface Place {
  view: string;
  search: string;
  page: number;
}

export const VIEWS: readonly (readonly [string, string])[] = [
  ["attention", "Not Ready"],
  ["secrets", "Secrets"],
  ["certificates", "Certificates"],
  ["pushes", "Pushes"],
  ["operator", "Operator"],
];

/** Returns where an address of the page leads; the first view for one that leads nowhere. */
export function placeOf(hash: string): Place {
  const [name = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const given = new URLSearchParams(query);
  const view = VIEWS.some(([one]) => one === name) ? name : "attention";
  return { view, search: given.get("search") ?? "", page: Number(given.get("page")) || 1 };
}

/** Returns the address of a place within the page. */
export function addressOf(place: Place): string {
  const query = new URLSearchParams();
  if (place.search) query.set("search", place.search);
  if (place.page > 1) query.set("page", String(place.page));
  const text = query.toString();
  return `#/${place.view}${text ? `?${text}` : ""}`;
}

/** Returns the view as the server sees it now. Throws what the browser says where the server can't be asked. */
export async function ask(place: Place, signal: AbortSignal): Promise<View> {
  const query = new URLSearchParams({ search: place.search, page: String(place.page) });
  const answer = await fetch(`view/${place.view}?${query}`, { signal });
  if (!answer.ok) throw new Error(`The dashboard answered ${answer.status}.`);
  return (await answer.json()) as View;
}
