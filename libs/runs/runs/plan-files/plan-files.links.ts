import type { Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import { RecipientLinks } from '../runs/recipient.links.js';
import type { LinkRecipient } from '../runs/run-logs.links.js';

/** Executors download the file before they start terraform. */
const LIFETIME_MS = 15 * 60 * 1000;

/** The plan file of a run, for the executor with this claim of the apply. */
export type PlanFileTarget = { readonly run: string; readonly fence: number; readonly recipient: LinkRecipient };

/** Signed URLs of plan files. */
export class PlanFileLinks {
  private readonly links: RecipientLinks;

  constructor(publicUrl: string, links: SignedLinks) {
    this.links = new RecipientLinks({ publicUrl, path: '/api/v2/plan-files', links, lifetimeMs: LIFETIME_MS });
  }

  urlOf(run: string, fence: number, actor: Actor): string {
    return this.links.sign([run, fence], actor);
  }

  /** Throws forbidden if the token is forged or has expired. */
  targetOf(token: string): PlanFileTarget {
    const {
      parts: [run = '', fence],
      recipient,
    } = this.links.verify(token);
    return { run, fence: Number(fence), recipient };
  }
}
