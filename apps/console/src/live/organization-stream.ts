import { ACCESS_EVENTS, CHANGE_EVENTS, RESET_EVENTS, type LiveMessage } from './live-message.js';
import { setLiveState } from './live-state.js';
import type { Refresher } from './refresher.js';

/** Without HTTP/2 a browser opens six connections to a server, so tabs in the background give theirs back. */
const LONGEST_HIDDEN_MS = 30_000;
const FIRST_PAUSE_MS = 3_000;
const LONGEST_PAUSE_MS = 300_000;
/** The server refuses a stream for ever if the organization is deleted, for example. */
const REFUSALS_BEFORE_OFF = 3;

/**
 * The live stream of an organization. EventSource reconnects by itself when a connection breaks. It gives up when the server
 * or a proxy refuses, so the class then opens another one, which resumes after the last message.
 */
export class OrganizationStream {
  private source: EventSource | null = null;
  private lastEventId = '';
  private timer: number | undefined;
  private refusals = 0;
  private wasLive = false;

  constructor(
    private readonly organization: string,
    private readonly refresher: Refresher,
  ) {}

  start(): void {
    document.addEventListener('visibilitychange', this.handleVisibility);
    this.open();
    this.handleVisibility();
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.handleVisibility);
    this.close();
    this.refresher.stop();
  }

  private readonly handleVisibility = (): void => {
    if (document.visibilityState === 'hidden') this.schedule(() => this.close(), LONGEST_HIDDEN_MS);
    else if (this.source === null) this.open();
    else clearTimeout(this.timer);
  };

  private schedule(action: () => void, delayMs: number): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(action, delayMs);
  }

  private open(): void {
    clearTimeout(this.timer);
    const path = `/api/v2/organizations/${encodeURIComponent(this.organization)}/events`;
    const source = new EventSource(this.lastEventId === '' ? path : `${path}?after=${this.lastEventId}`);
    this.source = source;
    source.addEventListener('open', () => this.handleOpen());
    source.addEventListener('error', () => this.handleError(source));
    for (const event of CHANGE_EVENTS) source.addEventListener(event, (message) => this.handleMessage(message, false));
    for (const event of RESET_EVENTS) source.addEventListener(event, (message) => this.handleMessage(message, true));
  }

  private close(): void {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
    this.wasLive = false;
    setLiveState('off');
  }

  private handleOpen(): void {
    this.refusals = 0;
    this.wasLive = true;
    setLiveState('live');
  }

  private handleError(source: EventSource): void {
    if (source.readyState === EventSource.CLOSED) this.handleRefusal();
    else if (this.wasLive) setLiveState('reconnecting');
  }

  private handleRefusal(): void {
    this.source = null;
    this.refusals += 1;
    setLiveState(this.wasLive && this.refusals < REFUSALS_BEFORE_OFF ? 'reconnecting' : 'off');
    // A tab in the background opens its stream when it comes to the front.
    if (document.visibilityState === 'hidden') return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.refusals - 1), LONGEST_PAUSE_MS);
    // Not all tabs of all people at the same time.
    this.schedule(() => this.open(), pauseMs * (1 + Math.random()));
  }

  private handleMessage({ type, data, lastEventId }: MessageEvent<string>, hasReset: boolean): void {
    this.lastEventId = lastEventId;
    const { resource } = JSON.parse(data) as LiveMessage;
    const types = new Set(resource ? [resource.type] : []);
    this.refresher.add({ types, hasReset, hasNewAccess: ACCESS_EVENTS.has(type) });
  }
}
