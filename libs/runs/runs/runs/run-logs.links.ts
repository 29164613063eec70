import { chooseLinkOrigin, createEventContext, type Actor } from '#api/access';
import { LINK_LIFETIME_MS, type SignedLinks } from '#storage/blob-store';
import { toRunId, type LogUrls } from './runs.document.js';
import type { PhaseName } from './phases.js';

/** The log of a phase. `phase` is the id of the plan or the apply. */
export type LogTarget = { readonly run: string; readonly phase: string; readonly name: PhaseName };

/** The caller that a link was made for. */
export type LinkRecipient = { readonly id: string; readonly type: string };

const HOUR_MS = 60 * 60 * 1000;

/**
 * Signed URLs of logs. The CLI replaces the complete query of the URL, so the signature is in the path. It gets the URL
 * once and reads until the phase ends, so the link is valid for a day.
 */
export class RunLogLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly links: SignedLinks,
  ) {}

  /** Returns the URLs for a caller. */
  urlsFor(actor: Actor): LogUrls {
    const { id, type } = createEventContext(actor).accessor;
    const origin = chooseLinkOrigin(actor, this.publicUrl);
    return (phase) => `${origin}/api/v2/logs/${this.links.sign(`${phase} ${id} ${type}`, LINK_LIFETIME_MS, HOUR_MS)}`;
  }

  /** Throws forbidden if the token is forged or has expired. */
  targetOf(token: string): LogTarget & { readonly recipient: LinkRecipient } {
    const [phase = '', id = '', type = ''] = this.links.subjectOf(token).split(' ');
    return { ...toLogTarget(phase, phase.startsWith('plan-') ? 'plan' : 'apply'), recipient: { id, type } };
  }
}

/** `phase`: the id of a plan or an apply. Returns a target that does not exist if the id has another prefix. */
export const toLogTarget = (phase: string, name: PhaseName): LogTarget => ({ run: toRunId(phase, name), phase, name });
