import { KEY_TYPES } from './formats/keys.js';
import type { OpenedCheckpoint } from './opened-checkpoints.js';
import { TrailAlteredError } from './trail-errors.js';
import { parseVerifierKey, type VerifierKey } from './verifier-keys.js';

/** Who must cosign a checkpoint: one witness, or some members of a group. */
type Quorum = { readonly needed: number; readonly members: readonly Quorum[] } | { readonly witness: string };

export type Witness = {
  readonly name: string;
  readonly key: VerifierKey;
  /** Where checkpoints are sent, without a slash at its end; null if somebody else sends them. */
  readonly url: string | null;
};

export type WitnessPolicy = {
  /** The texts of the verifier keys of logs. */
  readonly logs: readonly string[];
  readonly witnesses: readonly Witness[];
  /** Returns whether cosignatures of these witnesses suffice. */
  readonly isQuorum: (names: ReadonlySet<string>) => boolean;
};

const MAX_WITNESSES = 32;

/** Returns the policy of a text in the format of C2SP tlog-policy. Throws RangeError with the line that is wrong. */
export const parseWitnessPolicy = (text: string): WitnessPolicy => {
  const witnesses: Witness[] = [];
  const logs: string[] = [];
  const quorums = new Map<string, Quorum>([['none', { needed: 0, members: [] }]]);
  let quorum: Quorum | null = null;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [kind, ...words] = line.replace(/#.*/, '').trim().split(/\s+/);
    try {
      if (kind === 'witness') witnesses.push(addTo(quorums, parseWitness(words)));
      else if (kind === 'group') addGroup(quorums, words);
      else if (kind === 'quorum') quorum = parseQuorum(quorums, quorum, words);
      else if (kind === 'log') logs.push(words[0] ?? '');
      else if (kind !== '') throw new RangeError('must begin with witness, group, quorum or log');
    } catch (error) {
      throw new RangeError(`line ${index + 1}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (!quorum) throw new RangeError('must have a line `quorum NAME` or `quorum none`');
  if (witnesses.length > MAX_WITNESSES) throw new RangeError(`must have at most ${MAX_WITNESSES} witnesses`);
  const required = quorum;
  return { logs, witnesses, isQuorum: (names) => isReached(required, names) };
};

/** Throws TrailAlteredError unless a quorum of the witnesses has cosigned the checkpoint. The error names the others. */
export const requireQuorum = ({ origin, size, signatures }: OpenedCheckpoint, policy: WitnessPolicy): void => {
  const hasCosigned = ({ key }: Witness): boolean =>
    signatures.some((signature) => signature.key.id === key.id && signature.key.name === key.name);
  const missing = policy.witnesses.filter((witness) => !hasCosigned(witness)).map(({ name }) => name);
  const names = policy.witnesses.map(({ name }) => name).filter((name) => !missing.includes(name));
  if (policy.isQuorum(new Set(names))) return;
  throw new TrailAlteredError(
    'signature',
    `the checkpoint of ${size} entries of ${origin} has no quorum of cosignatures; those of ${missing.join(', ')} are missing`,
  );
};

const parseWitness = ([name = '', keyText = '', urlText, ...rest]: readonly string[]): Witness => {
  const key = parseVerifierKey(keyText);
  if (key.type !== KEY_TYPES.cosignature) throw new RangeError(`${name}: must be a key for cosignatures (type 04)`);
  const url = urlText === undefined ? null : new URL(urlText);
  if (rest.length > 0 || (url && !/^https?:$/.test(url.protocol))) {
    throw new RangeError('must be witness NAME KEY [URL]');
  }
  return { name, key, url: url && url.href.replace(/\/+$/, '') };
};

const addTo = (quorums: Map<string, Quorum>, witness: Witness): Witness => {
  addName(quorums, witness.name, { witness: witness.name });
  return witness;
};

const addGroup = (quorums: Map<string, Quorum>, [name = '', count = '', ...names]: readonly string[]): void => {
  const members = names.map((member) => findQuorum(quorums, member));
  const needed = count === 'any' ? 1 : count === 'all' ? members.length : Number(/^\d{1,2}$/.exec(count)?.[0]);
  if (!(needed >= 1 && needed <= members.length)) {
    throw new RangeError('must be group NAME any|all|NUMBER MEMBER…, with a number from 1 to the number of members');
  }
  addName(quorums, name, { needed, members });
};

const addName = (quorums: Map<string, Quorum>, name: string, quorum: Quorum): void => {
  if (name === '' || quorums.has(name)) throw new RangeError(`the name ${JSON.stringify(name)} is used or missing`);
  quorums.set(name, quorum);
};

const parseQuorum = (
  quorums: ReadonlyMap<string, Quorum>,
  earlier: Quorum | null,
  [name = '', ...rest]: readonly string[],
): Quorum => {
  if (earlier || rest.length > 0) throw new RangeError('must be the only line of its kind: quorum NAME');
  return findQuorum(quorums, name);
};

const findQuorum = (quorums: ReadonlyMap<string, Quorum>, name: string): Quorum => {
  const quorum = quorums.get(name);
  if (!quorum) throw new RangeError(`there is no witness or group ${JSON.stringify(name)} above this line`);
  return quorum;
};

const isReached = (quorum: Quorum, names: ReadonlySet<string>): boolean =>
  'witness' in quorum
    ? names.has(quorum.witness)
    : quorum.members.filter((member) => isReached(member, names)).length >= quorum.needed;
