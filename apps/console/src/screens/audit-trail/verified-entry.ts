import {
  computeCheckpointDigest,
  isEd25519Supported,
  parseWebVerifierKey,
  TrailAlteredError,
  verifyWebProof,
  verifyWebSiteProof,
  type WebCheckpoint,
  type WebProofStep,
  type WebVerifierKey,
} from '#packages/trail-verifier/web';
import { readSiteKeys, readSiteProof, type TrailLogStatus } from '../../api/trail-log.js';
import { formatCount } from '../../components/counts.js';
import { formatShortTime } from '../../components/times.js';

type StepName = WebProofStep | 'site' | 'witnesses';

/** What a verification has shown, in words. */
export type VerificationResult =
  | { readonly kind: 'verified'; readonly checks: readonly string[]; readonly unchecked: readonly string[] }
  | {
      readonly kind: 'refused';
      /** The step that has failed. */
      readonly step: string;
      /** As the command names it, such as `signature`. */
      readonly problem: string;
      readonly reason: string;
      /** The steps before it. */
      readonly passed: readonly string[];
    }
  | { readonly kind: 'impossible'; readonly reason: string };

type VerificationInput = {
  readonly entry: object;
  readonly proof: string;
  /** Verifier keys that the person trusts, one a line: of the log, and perhaps of the log of the site and of witnesses. */
  readonly keys: string;
  readonly log: TrailLogStatus | null;
};

const STEPS: Readonly<Record<StepName, string>> = {
  format: 'Proof',
  signature: 'Signature',
  leaf: 'Leaf',
  inclusion: 'Inclusion',
  site: 'Log of the site',
  witnesses: 'Cosignature',
};

/** The type of keys that cosign. */
const COSIGNATURE = 4;

const isWitness = ({ type }: WebVerifierKey): boolean => type === COSIGNATURE;

/** The name of a log of a site, also after a fork. Its host can be another than that of a log of an organization. */
const SITE_LOG_NAME = /^[^/]+\/audit-trail-log(?:\/\d+(?:-[0-9a-f]+)?)?$/;

/** Keys of other names, such as former ones of the log of the organization, must not sign for the log of the site. */
const isSiteKey = (key: WebVerifierKey): boolean => !isWitness(key) && SITE_LOG_NAME.test(key.name);

/** The person requires what the server does not prove. */
class SiteProofMissingError extends Error {}

const parseKeys = (text: string): Promise<readonly WebVerifierKey[]> =>
  Promise.all(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map(parseWebVerifierKey),
  );

/** Verifies step by step, and remembers what was shown and which step comes next. */
class EntryVerification {
  /** The last one is not finished. */
  readonly steps: StepName[] = [];
  readonly checks: string[] = [];
  readonly unchecked: string[] = [];

  constructor(
    private readonly input: VerificationInput,
    private readonly keys: readonly WebVerifierKey[],
  ) {}

  async run(): Promise<void> {
    const checkpoint = await this.verifyProof();
    this.steps.push('site');
    const site = await this.verifySite(checkpoint);
    if (!site) return;
    this.steps.push('witnesses');
    await this.verifyWitnesses(site);
  }

  private async verifyProof(): Promise<WebCheckpoint> {
    const { entry, proof } = this.input;
    const bytes = new TextEncoder().encode(JSON.stringify(entry));
    const report = await verifyWebProof(proof, bytes, this.keys, (step) => this.steps.push(step));
    const { checkpoint, index, revealed, withheld, hashes } = report;
    const signers = checkpoint.signatures.map(({ key }) => `${key.name} (key ${key.id})`);
    this.checks.push(
      `Signature: ${signers.join(' and ')} has signed the checkpoint.`,
      `Leaf: this entry, with ${formatCount(revealed, 'personal value', 'personal values')}, gives the leaf with index ${index}.`,
    );
    if (withheld > 0) {
      this.checks.push(
        `Withheld: ${formatCount(withheld, 'personal value is', 'personal values are')} hidden, and the leaf does not need them.`,
      );
    }
    this.checks.push(
      `Inclusion: ${formatCount(hashes, 'hash leads', 'hashes lead')} from the leaf to the root of the checkpoint with ${formatCount(checkpoint.size, 'entry', 'entries')}.`,
    );
    return checkpoint;
  }

  /** Returns the checkpoint of the log of the site; null if that log does not have the checkpoint of the entry yet. */
  private async verifySite(checkpoint: WebCheckpoint): Promise<WebCheckpoint | null> {
    const proof = await readSiteProof(await computeCheckpointDigest(checkpoint));
    const entered = this.keys.filter(isSiteKey);
    if (proof === null) {
      if (entered.length > 0 || this.keys.some(isWitness)) throw new SiteProofMissingError();
      this.unchecked.push(`Not checked: ${NO_SITE_PROOF}`);
      return null;
    }
    const trusted = entered.length > 0 ? entered : (await parseKeys(await readSiteKeys())).filter(isSiteKey);
    const site = await verifyWebSiteProof(proof, checkpoint, [...trusted, ...(await this.listWitnessKeys())]);
    const signers = site.signatures
      .filter(({ key }) => !isWitness(key))
      .map(({ key }) => `${key.name} (key ${key.id})`);
    this.checks.push(
      `Log of the site: it has this checkpoint. ${signers.join(' and ')} has signed its ${formatCount(site.size, 'entry', 'entries')}.`,
    );
    if (entered.length === 0)
      this.unchecked.push(`Not checked: that the key of the log of the site is its own. ${ENTER}`);
    return site;
  }

  /** The witnesses whose keys were entered or, if none were, those that the server names. */
  private async listWitnessKeys(): Promise<readonly WebVerifierKey[]> {
    const entered = this.keys.filter(isWitness);
    const witnesses = this.input.log?.witnesses ?? [];
    return entered.length > 0 ? entered : parseKeys(witnesses.map((witness) => witness['verifier-key']).join('\n'));
  }

  private async verifyWitnesses({ size, signatures }: WebCheckpoint): Promise<void> {
    const witnesses = await this.listWitnessKeys();
    const times = signatures.flatMap(({ key, time }) => (time === null ? [] : [{ name: key.name, time }]));
    const missing = witnesses
      .map(({ name }) => name)
      .filter((name) => !times.some((cosigner) => cosigner.name === name));
    const isEntered = this.keys.some(isWitness);
    // Others can be away: the server then names an earlier size.
    const hasOne = (this.input.log?.witnesses ?? []).some((witness) => witness.size >= size);
    if (missing.length > 0 && (isEntered || (times.length === 0 && hasOne))) {
      throw new TrailAlteredError(
        'signature',
        `the checkpoint of ${formatCount(size, 'entry', 'entries')} of the log of the site lacks the cosignature of ${missing.join(' and ')}`,
      );
    }
    this.checks.push(
      ...times.map(
        ({ name, time }) =>
          `Cosignature: ${name} has cosigned this checkpoint of the log of the site, ${formatShortTime(time.toISOString())}.`,
      ),
    );
    if (missing.length > 0) {
      this.unchecked.push(
        `Not checked: ${missing.join(' and ')} has not cosigned this checkpoint of the log of the site.`,
      );
    }
    if (times.length > 0 && !isEntered) {
      this.unchecked.push(`Not checked: that the keys of the witnesses are theirs. ${ENTER}`);
    }
  }
}

const NO_SITE_PROOF =
  'the server does not prove that the log of the site has this checkpoint. It has each one two minutes after it was signed. If it does not have this one then, others may be shown another history.';

const ENTER = 'They come from this server. Add those that you have from elsewhere to the keys above.';

/** Verifies an entry with Web Crypto, and that the log of the site has the checkpoint, as its witnesses have cosigned it. */
export const verifyEntry = async (input: VerificationInput): Promise<VerificationResult> => {
  if (!(await isEd25519Supported())) {
    return {
      kind: 'impossible',
      reason:
        'This browser cannot verify Ed25519 signatures with Web Crypto. Use a newer browser, or download the proof and verify it with cadastre-verify.',
    };
  }
  let verification: EntryVerification | null = null;
  try {
    const keys = await parseKeys(input.keys);
    if (keys.length === 0) return { kind: 'impossible', reason: 'Enter the verifier key that you trust.' };
    verification = new EntryVerification(input, keys);
    await verification.run();
    const { checks, unchecked } = verification;
    return { kind: 'verified', checks, unchecked };
  } catch (error) {
    if (error instanceof TrailAlteredError) {
      const steps = (verification?.steps ?? []).map((step) => STEPS[step]);
      const { problem, message: reason } = error;
      return { kind: 'refused', step: steps.at(-1) ?? STEPS.format, problem, reason, passed: steps.slice(0, -1) };
    }
    if (error instanceof SiteProofMissingError) {
      return {
        kind: 'impossible',
        reason: `You have entered keys of the log of the site or of witnesses, but ${NO_SITE_PROOF}`,
      };
    }
    if (error instanceof RangeError) return { kind: 'impossible', reason: `The key ${error.message}` };
    throw error;
  }
};
