import { findPageStart } from '../api/server-time.js';
import { ACCESS_EVENTS, CHANGE_EVENTS, RESET_EVENTS, type LiveMessage } from './live-message.js';
import { setLiveState, type LiveState } from './live-state.js';
import type { Refresher } from './refresher.js';
import { TabChannel, type PassedOn, type TabMessage } from './tab-channel.js';
import { TabLead } from './tab-lead.js';

/** A tab that was hidden for this time follows nothing. It catches up when it is shown. */
const LONGEST_HIDDEN_MS = 30_000;
const FIRST_PAUSE_MS = 3_000;
const LONGEST_PAUSE_MS = 300_000;
/** The server refuses a stream for ever if the organization is deleted, for example. */
const REFUSALS_BEFORE_OFF = 3;

const RESETS: ReadonlySet<string> = new Set(RESET_EVENTS);

/**
 * The live stream of an organization. All tabs of the browser share one, because browsers open only six connections to a
 * server that has no HTTP/2: the tab that was opened last has it, and passes its messages on (ADR 93).
 *
 * EventSource reconnects by itself when a connection breaks. It gives up when the server or a proxy refuses, so the class then
 * opens another one, which resumes after the last message.
 */
export class OrganizationStream {
  private readonly channel = new TabChannel();
  private readonly lead: TabLead;
  private source: EventSource | null = null;
  private isFollowing = false;
  private lastEventId = '';
  private hiddenTimer: number | undefined;
  private retryTimer: number | undefined;
  private refusals = 0;
  private wasLive = false;

  constructor(
    private readonly organization: string,
    private readonly refresher: Refresher,
  ) {
    this.lead = new TabLead(organization, { onLead: () => this.open(), onLost: () => this.closeSource() });
  }

  start(): void {
    document.addEventListener('visibilitychange', this.handleVisibility);
    this.follow();
    this.handleVisibility();
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.handleVisibility);
    this.rest();
    this.refresher.stop();
  }

  private readonly handleVisibility = (): void => {
    clearTimeout(this.hiddenTimer);
    if (document.visibilityState === 'hidden') {
      this.hiddenTimer = window.setTimeout(() => this.rest(), LONGEST_HIDDEN_MS);
    } else if (!this.isFollowing) this.follow();
  };

  /** Takes the stream from the tab that has it: only a stream of its own begins where this tab has stopped. */
  private follow(): void {
    this.isFollowing = true;
    this.channel.open((message) => this.handleTab(message));
    this.lead.take();
  }

  private rest(): void {
    clearTimeout(this.hiddenTimer);
    this.isFollowing = false;
    this.closeSource();
    this.lead.leave();
    this.channel.close();
    this.wasLive = false;
    setLiveState('off');
  }

  private open(): void {
    this.closeSource();
    const source = new EventSource(this.buildAddress());
    this.source = source;
    this.pass({ kind: 'opened' });
    source.addEventListener('open', () => this.handleOpen());
    source.addEventListener('error', () => this.handleError(source));
    for (const event of [...CHANGE_EVENTS, ...RESET_EVENTS]) {
      source.addEventListener(event, ({ type, data, lastEventId }: MessageEvent<string>) => {
        this.pass({ kind: 'message', type, data, lastEventId });
        this.handleMessage(type, data, lastEventId);
      });
    }
  }

  /** The stream begins where the tab has stopped, or with what has changed since the page was opened. */
  private buildAddress(): string {
    const path = `/api/v2/organizations/${encodeURIComponent(this.organization)}/events`;
    if (this.lastEventId !== '') return `${path}?after=${this.lastEventId}`;
    const since = findPageStart();
    return since === null ? path : `${path}?since=${since}`;
  }

  private closeSource(): void {
    clearTimeout(this.retryTimer);
    this.source?.close();
    this.source = null;
  }

  private pass(message: PassedOn): void {
    this.channel.send({ ...message, organization: this.organization });
  }

  private setState(state: LiveState): void {
    setLiveState(state);
    this.pass({ kind: 'state', state });
  }

  private handleTab(message: TabMessage): void {
    const isHidden = document.visibilityState === 'hidden';
    if (message.organization === this.organization) {
      if (message.kind === 'state') this.handleState(message.state);
      if (message.kind === 'message') this.handleMessage(message.type, message.data, message.lastEventId);
    } else if (message.kind === 'opened' && isHidden) this.rest();
  }

  private handleState(state: LiveState): void {
    this.wasLive ||= state === 'live';
    setLiveState(state);
  }

  private handleOpen(): void {
    this.refusals = 0;
    this.wasLive = true;
    this.setState('live');
  }

  private handleError(source: EventSource): void {
    if (source.readyState === EventSource.CLOSED) this.handleRefusal();
    else if (this.wasLive) this.setState('reconnecting');
  }

  private handleRefusal(): void {
    this.source = null;
    this.refusals += 1;
    this.setState(this.wasLive && this.refusals < REFUSALS_BEFORE_OFF ? 'reconnecting' : 'off');
    // A tab in the background opens its stream when it comes to the front.
    if (document.visibilityState === 'hidden') return this.rest();
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.refusals - 1), LONGEST_PAUSE_MS);
    // Not all tabs of all people at the same time.
    this.retryTimer = window.setTimeout(() => this.open(), pauseMs * (1 + Math.random()));
  }

  private handleMessage(type: string, data: string, lastEventId: string): void {
    this.lastEventId = lastEventId;
    const { resource } = JSON.parse(data) as LiveMessage;
    const types = new Set(resource ? [resource.type] : []);
    this.refresher.add({ types, hasReset: RESETS.has(type), hasNewAccess: ACCESS_EVENTS.has(type) });
  }
}
