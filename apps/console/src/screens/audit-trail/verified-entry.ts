import {
  isEd25519Supported,
  openWebCheckpoint,
  parseWebVerifierKey,
  TrailAlteredError,
  verifyWebProof,
  type WebVerifierKey,
} from '#packages/trail-verifier/web';
import { readSiteLog, type TrailLogStatus } from '../../api/trail-log.js';
import { formatCount } from '../../components/counts.js';
import { formatShortTime } from '../../components/times.js';

/** What a verification has shown, in words. */
export type VerificationResult =
  | { readonly kind: 'verified'; readonly checks: readonly string[]; readonly unchecked: readonly string[] }
  /** `problem`: as the command names it, such as `signature`. */
  | { readonly kind: 'refused'; readonly problem: string; readonly reason: string }
  | { readonly kind: 'impossible'; readonly reason: string };

type VerificationInput = {
  readonly entry: object;
  readonly proof: string;
  /** Verifier keys that the person trusts, one a line. */
  readonly keys: string;
  readonly log: TrailLogStatus | null;
};

const parseKeys = (text: string): Promise<readonly WebVerifierKey[]> =>
  Promise.all(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map(parseWebVerifierKey),
  );

const checkEntry = async ({ entry, proof }: VerificationInput, keys: readonly WebVerifierKey[]): Promise<string[]> => {
  const bytes = new TextEncoder().encode(JSON.stringify(entry));
  const { checkpoint, index, revealed, withheld, hashes } = await verifyWebProof(proof, bytes, keys);
  const signers = checkpoint.signatures.map(({ key }) => `${key.name} (key ${key.id})`);
  return [
    `Leaf: this entry, with ${formatCount(revealed, 'personal value', 'personal values')}, gives the leaf with index ${index}.`,
    ...(withheld > 0
      ? [
          `Withheld: ${formatCount(withheld, 'personal value is', 'personal values are')} hidden, and the leaf does not need them.`,
        ]
      : []),
    `Inclusion: ${formatCount(hashes, 'hash leads', 'hashes lead')} from the leaf to the root of the checkpoint with ${formatCount(checkpoint.size, 'entry', 'entries')}.`,
    `Signature: ${signers.join(' and ')} has signed the checkpoint.`,
  ];
};

/** Checks the cosignatures of the log of the site. Its keys and those of its witnesses come from the server. */
const checkWitnesses = async (log: TrailLogStatus | null): Promise<readonly string[]> => {
  if (!log || log.witnesses.length === 0) return [];
  const { checkpoint, keys } = await readSiteLog();
  const witnesses = log.witnesses.map((witness) => witness['verifier-key']);
  const parsed = await parseKeys([keys, ...witnesses].join('\n'));
  const { signatures } = await openWebCheckpoint(checkpoint, parsed, 'the checkpoint of the log of the site');
  return signatures.flatMap(({ key, time }) =>
    time === null
      ? []
      : [
          `Cosignature: ${key.name} has cosigned the checkpoint of the log of the site, ${formatShortTime(time.toISOString())}.`,
        ],
  );
};

const UNCHECKED_WITNESSES =
  'Not checked: that the log of the site contains this checkpoint, and that the keys of the witnesses are theirs.';

/** Verifies an entry with Web Crypto. Nothing but the proof, the entry and the keys decides about the first checks. */
export const verifyEntry = async (input: VerificationInput): Promise<VerificationResult> => {
  if (!(await isEd25519Supported())) {
    return {
      kind: 'impossible',
      reason:
        'This browser cannot verify Ed25519 signatures with Web Crypto. Use a newer browser, or download the proof and verify it with cadastre-verify.',
    };
  }
  try {
    const keys = await parseKeys(input.keys);
    if (keys.length === 0) return { kind: 'impossible', reason: 'Enter the verifier key that you trust.' };
    const checks = await checkEntry(input, keys);
    const cosignatures = await checkWitnesses(input.log);
    return {
      kind: 'verified',
      checks: [...checks, ...cosignatures],
      unchecked: cosignatures.length > 0 ? [UNCHECKED_WITNESSES] : [],
    };
  } catch (error) {
    if (error instanceof TrailAlteredError) return { kind: 'refused', problem: error.problem, reason: error.message };
    if (error instanceof RangeError) return { kind: 'impossible', reason: `The key ${error.message}` };
    throw error;
  }
};
