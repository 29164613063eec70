import { createEventContext, type Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import type { LinkRecipient } from '../runs/run-logs.links.js';

/** Executors download the file before they start terraform. */
const LIFETIME_MS = 15 * 60 * 1000;

/** The plan file of a run, for the executor with this claim of the apply. */
export type PlanFileTarget = { readonly run: string; readonly fence: number; readonly recipient: LinkRecipient };

/** Signed URLs of plan files. */
export class PlanFileLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly links: SignedLinks,
  ) {}

  urlOf(run: string, fence: number, actor: Actor): string {
    const { id, type } = createEventContext(actor).accessor;
    return `${this.publicUrl}/api/v2/plan-files/${this.links.sign(`${run} ${fence} ${id} ${type}`, LIFETIME_MS)}`;
  }

  /** Throws forbidden if the token is forged or has expired. */
  targetOf(token: string): PlanFileTarget {
    const [run = '', fence, id = '', type = ''] = this.links.subjectOf(token).split(' ');
    return { run, fence: Number(fence), recipient: { id, type } };
  }
}
