import type { LiveState } from './live-state.js';

/** A message of the tab with the stream of an organization to the other tabs of the browser. */
export type PassedOn =
  | { readonly kind: 'opened' }
  | { readonly kind: 'state'; readonly state: LiveState }
  | { readonly kind: 'message'; readonly type: string; readonly data: string; readonly lastEventId: string };
export type TabMessage = PassedOn & { readonly organization: string };

const NAME = 'cadastre-live';

/** Connects the tabs of the browser. Messages never reach the tab that sends them. */
export class TabChannel {
  private channel: BroadcastChannel | null = null;

  open(onMessage: (message: TabMessage) => void): void {
    this.close();
    this.channel = new BroadcastChannel(NAME);
    this.channel.onmessage = ({ data }: MessageEvent<TabMessage>) => onMessage(data);
  }

  send(message: TabMessage): void {
    this.channel?.postMessage(message);
  }

  close(): void {
    this.channel?.close();
    this.channel = null;
  }
}
