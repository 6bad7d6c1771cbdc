import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { addressOf, ask, placeOf, VIEWS, type Cell, type Detail, type Place, type Row, type View } from "./answers";
import { distance } from "./instants";

const TICK = 1_000;
const WAIT_FOR_TYPING = 250;

function Instant({ at, now }: { at: string; now: number }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {distance(at, now)}
    </time>
  );
}

function Said({ said, now }: { said: Cell; now: number }) {
  return (
    <>
      {said.text}
      {said.text && said.at ? " " : ""}
      {said.at ? <Instant at={said.at} now={now} /> : null}
    </>
  );
}

function Command({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <span class="command">
      <code>{text}</code>
      <button type="button" onClick={copy} aria-label={`Copy the command ${text}`}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </span>
  );
}

function Details({ details, now }: { details: Detail[]; now: number }) {
  return (
    <dl>
      {details.map((one, number) => (
        <div key={number}>
          <dt>{one.label}</dt>
          <dd>
            <Said said={one} now={now} />
            {one.command ? <Command text={one.command} /> : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface RowPart {
  row: Row;
  columns: string[];
  now: number;
  isOpen: boolean;
  toggle: () => void;
}

function RowAndDetails({ row, columns, now, isOpen, toggle }: RowPart) {
  const [first, ...rest] = row.cells;
  return (
    <>
      <tr class={row.tone}>
        <th scope="row" data-label={columns[0]}>
          <button type="button" class="opener" aria-expanded={isOpen} onClick={toggle}>
            {first ? <Said said={first} now={now} /> : null}
          </button>
        </th>
        {rest.map((cell, number) => (
          <td key={number} data-label={columns[number + 1]}>
            <Said said={cell} now={now} />
          </td>
        ))}
      </tr>
      {isOpen ? (
        <tr class="details">
          <td colSpan={columns.length} aria-label={row.title}>
            <Details details={row.details} now={now} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

function Table({ view, now }: { view: View; now: number }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <table>
      <caption class="unseen">{view.heading}</caption>
      <thead>
        <tr>
          {view.columns.map((column) => (
            <th scope="col" key={column}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {view.rows.map((row) => (
          <RowAndDetails
            key={row.key}
            row={row}
            columns={view.columns}
            now={now}
            isOpen={open === row.key}
            toggle={() => setOpen(open === row.key ? null : row.key)}
          />
        ))}
      </tbody>
    </table>
  );
}

function Pages({ view, place }: { view: View; place: Place }) {
  if (view.pages < 2) return null;
  const link = (page: number, text: string) => <a href={addressOf({ ...place, page })}>{text}</a>;
  return (
    <nav class="pages" aria-label="Pages">
      {view.page > 1 ? link(view.page - 1, "Previous") : null}
      <span>
        Page {view.page} of {view.pages}
      </span>
      {view.page < view.pages ? link(view.page + 1, "Next") : null}
    </nav>
  );
}

function Search({ place }: { place: Place }) {
  const waiting = useRef(0);
  const search = (event: Event) => {
    const text = (event.currentTarget as HTMLInputElement).value;
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => location.replace(addressOf({ ...place, search: text, page: 1 })), WAIT_FOR_TYPING);
  };
  return (
    <label class="search">
      <span>Search names</span>
      <input type="search" value={place.search} onInput={search} maxLength={253} autocomplete="off" spellcheck={false} />
    </label>
  );
}

function Tabs({ place }: { place: Place }) {
  return (
    <nav class="tabs" aria-label="Questions">
      {VIEWS.map(([name, title]) => (
        <a
          key={name}
          href={addressOf({ view: name, search: place.search, page: 1 })}
          aria-current={name === place.view ? "page" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** Follows the address of the page. */
function usePlace(): Place {
  const [place, setPlace] = useState(placeOf(location.hash));
  useEffect(() => {
    const follow = () => setPlace(placeOf(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}

/** Counts what the server says of changes; says whether it can be heard. */
function useChanges(): { revision: number; isLive: boolean } {
  const [revision, setRevision] = useState(0);
  const [isLive, setLive] = useState(true);
  useEffect(() => {
    const changes = new EventSource("changes");
    changes.onopen = () => setLive(true);
    changes.onerror = () => setLive(false);
    changes.onmessage = () => setRevision((before) => before + 1);
    return () => changes.close();
  }, []);
  return { revision, isLive };
}

function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const ticking = setInterval(() => setNow(Date.now()), TICK);
    return () => clearInterval(ticking);
  }, []);
  return now;
}

function useView(place: Place, revision: number): { view: View | null; trouble: string } {
  const [view, setView] = useState<View | null>(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    const asking = new AbortController();
    ask(place, asking.signal).then(
      (answer) => {
        setView(answer);
        setTrouble("");
      },
      (error: unknown) => {
        if (!asking.signal.aborted) setTrouble(String(error));
      },
    );
    return () => asking.abort();
  }, [place.view, place.search, place.page, revision]);
  return { view: view?.name === place.view ? view : null, trouble };
}

function Page() {
  const place = usePlace();
  const { revision, isLive } = useChanges();
  const { view, trouble } = useView(place, revision);
  const now = useNow();
  useEffect(() => {
    document.title = view ? `${view.heading} - Keybearer` : "Keybearer";
  }, [view?.heading]);
  return (
    <>
      <header>
        <strong>Keybearer</strong>
        <Tabs place={place} />
        <Search place={place} />
      </header>
      <main aria-busy={view === null}>
        {isLive && !trouble ? null : (
          <p class="trouble" role="alert">
            The dashboard doesn't answer. Is `keybearer dashboard` still running? The page shows what it saw last. {trouble}
          </p>
        )}
        {view ? (
          <>
            <h1>{view.heading}</h1>
            <p class="summary">{view.summary}</p>
            {view.notes.map((note) => (
              <p class="note" key={note}>
                {note}
              </p>
            ))}
            {view.rows.length ? <Table key={view.name} view={view} now={now} /> : null}
            {!view.rows.length && place.search ? <p>Nothing here has a name with “{place.search}”.</p> : null}
            <Pages view={view} place={place} />
          </>
        ) : (
          <p>Loading</p>
        )}
      </main>
    </>
  );
}

const root = document.getElementById("root");
if (root) render(<Page />, root);
