import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide, fold, Refusal } from '#platform/kernel';
import {
  registryProviderVersion,
  type RegistryProviderVersionState,
  type RegistryProviderVersionCommand,
  type RegistryProviderVersionEvent,
} from './registry-provider-version.js';

// Compares a version with a small, slow model of it, which keeps what was acknowledged. Files are letters here: a
// signature names the checksums that it signs, and is by the right key or by another one.

const NAMES = ['a', 'b'] as const;
type Name = (typeof NAMES)[number];

/** A step of a client. `right` and `wrong`: platforms that the checksums list with the right or a wrong checksum. */
type Act =
  | { readonly do: 'create'; readonly name: Name }
  | { readonly do: 'remove'; readonly name: Name }
  | { readonly do: 'zip'; readonly name: Name }
  | { readonly do: 'sums'; readonly right: readonly Name[]; readonly wrong: readonly Name[] }
  | { readonly do: 'sign'; readonly right: readonly Name[]; readonly wrong: readonly Name[]; readonly good: boolean }
  | { readonly do: 'key'; readonly isPublished: boolean }
  | { readonly do: 'delete' };

type Sums = string;
const RIGHT = 'a'.repeat(64);
const WRONG = 'b'.repeat(64);
const fileOf = (name: Name): string => `provider_${name}.zip`;

const listOf = ({ right, wrong }: { readonly right: readonly Name[]; readonly wrong: readonly Name[] }) =>
  Object.fromEntries(
    NAMES.filter((name) => right.includes(name) || wrong.includes(name)).map((name) => [
      fileOf(name),
      right.includes(name) ? RIGHT : WRONG,
    ]),
  );
const sumsOf = (act: { readonly right: readonly Name[]; readonly wrong: readonly Name[] }): Sums =>
  JSON.stringify(listOf(act));

/** State outside the version, as the handler loads it. */
type World = { readonly key: boolean };

type Signature = { readonly of: Sums; readonly good: boolean };

type Model = {
  alive: boolean;
  sums: Sums | null;
  signature: Signature | null;
  proved: boolean;
  /** Names of the platforms, and whether their zip is uploaded. */
  platforms: Map<Name, boolean>;
  published: boolean;
};

const isFlawed = (sums: Sums | null, signature: Signature | null, { key }: World): boolean =>
  sums !== null && signature !== null && !(key && signature.good && signature.of === sums);

const lists = (sums: Sums, name: Name): boolean => (JSON.parse(sums) as Record<string, string>)[fileOf(name)] === RIGHT;

type Outcome = 'not-found' | 'conflict' | 'unprocessable' | 'done';

/**
 * For each step: the expected outcome while the version exists, computed independently of the decider, and its effect
 * on the model.
 */
const RULES: {
  readonly [A in Act as A['do']]: {
    readonly outcome: (model: Model, act: A, world: World) => Outcome;
    readonly apply: (model: Model, act: A) => void;
    /** Whether the step checks the signature, and whether it can complete the version. */
    readonly proves?: true;
    readonly completes?: true;
  };
} = {
  create: {
    outcome: ({ platforms, sums }, { name }) =>
      platforms.has(name) || (sums !== null && !lists(sums, name)) ? 'unprocessable' : 'done',
    apply: ({ platforms }, { name }) => void platforms.set(name, false),
  },
  remove: {
    outcome: ({ platforms }, { name }) => (platforms.has(name) ? 'done' : 'not-found'),
    apply: ({ platforms }, { name }) => void platforms.delete(name),
    completes: true,
  },
  zip: {
    outcome: ({ platforms }, { name }) => {
      if (!platforms.has(name)) return 'not-found';
      return platforms.get(name) ? 'conflict' : 'done';
    },
    apply: ({ platforms }, { name }) => void platforms.set(name, true),
    proves: true,
    completes: true,
  },
  sums: {
    outcome: ({ platforms, sums, signature }, sent, world) => {
      if (sums !== null) return 'conflict';
      if ([...platforms.keys()].some((name) => !lists(sumsOf(sent), name))) return 'unprocessable';
      return platforms.size > 0 && isFlawed(sumsOf(sent), signature, world) ? 'unprocessable' : 'done';
    },
    apply: (model, sent) => void (model.sums = sumsOf(sent)),
    proves: true,
    completes: true,
  },
  sign: {
    outcome: ({ platforms, sums, proved }, { good, ...of }, world) => {
      if (proved) return 'conflict';
      return platforms.size > 0 && isFlawed(sums, { of: sumsOf(of), good }, world) ? 'unprocessable' : 'done';
    },
    apply: (model, { good, ...of }) => void (model.signature = { of: sumsOf(of), good }),
    proves: true,
    completes: true,
  },
  key: { outcome: () => 'done', apply: () => undefined },
  delete: { outcome: () => 'done', apply: (model) => void (model.alive = false) },
};

const ruleOf = (act: Act) => RULES[act.do] as (typeof RULES)['delete'];

const expected = (model: Model, act: Act, world: World): Outcome =>
  model.alive ? ruleOf(act).outcome(model, act as never, world) : 'not-found';

const apply = (model: Model, act: Act, world: World): void => {
  const { apply: change, proves, completes } = ruleOf(act);
  change(model, act as never);
  const isHere = model.sums !== null && model.signature !== null;
  if (proves && isHere) model.proved ||= !isFlawed(model.sums, model.signature, world);
  const isComplete = model.proved && model.platforms.size > 0 && [...model.platforms.values()].every(Boolean);
  if (completes && isComplete) model.published = true;
};

const idOf = (name: Name): string => `provpltfrm-${name}`;

/** Builds the command that a handler would send; null if the step does not concern the version. */
const commandFor = (act: Act, model: Model, world: World): RegistryProviderVersionCommand | null => {
  const flawOf = (sums: Sums | null, signature: Signature | null): string | null =>
    !model.proved && isFlawed(sums, signature, world) ? 'flawed' : null;
  const rows: { readonly [A in Act as A['do']]: (act: A) => RegistryProviderVersionCommand | null } = {
    create: ({ name }) => ({
      type: 'CreatePlatform',
      data: { platform: idOf(name), os: name, arch: 'amd64', filename: fileOf(name), shasum: RIGHT },
    }),
    remove: ({ name }) => ({ type: 'DeletePlatform', data: { platform: idOf(name) } }),
    zip: ({ name }) => ({
      type: 'AcceptBinary',
      data: { platform: idOf(name), size: 1, flaw: flawOf(model.sums, model.signature) },
    }),
    sums: (sent) => ({
      type: 'AcceptShasums',
      data: { size: 1, sha256: sumsOf(sent), listed: listOf(sent), flaw: flawOf(sumsOf(sent), model.signature) },
    }),
    sign: (sent) => ({
      type: 'AcceptSignature',
      data: {
        size: 1,
        sha256: `${sent.good} ${sumsOf(sent)}`,
        flaw: flawOf(model.sums, { of: sumsOf(sent), good: sent.good }),
      },
    }),
    key: () => null,
    delete: () => ({ type: 'DeleteVersion', data: {} }),
  };
  return (rows[act.do] as (act: Act) => RegistryProviderVersionCommand | null)(act);
};

const attempt = (
  command: RegistryProviderVersionCommand,
  state: RegistryProviderVersionState,
): readonly RegistryProviderVersionEvent[] | Refusal['kind'] => {
  try {
    return decide(registryProviderVersion, command, state);
  } catch (error) {
    if (error instanceof Refusal) return error.kind;
    throw error;
  }
};

const toObservable = (state: RegistryProviderVersionState): unknown => {
  if (state.status !== 'active') return { alive: false };
  const { shasums, signature, platforms, published } = state;
  return {
    alive: true,
    sums: shasums === null ? null : shasums.sha256,
    signature: signature === null ? null : signature.sha256,
    proved: signature?.verified ?? false,
    platforms: Object.entries(platforms)
      .map(([id, { size }]) => [id, size !== null])
      .toSorted(),
    published,
  };
};

const modelToObservable = ({ alive, sums, signature, proved, platforms, published }: Model): unknown =>
  alive
    ? {
        alive,
        sums,
        signature: signature === null ? null : `${signature.good} ${signature.of}`,
        proved,
        platforms: [...platforms].map(([name, isHere]) => [idOf(name), isHere]).toSorted(),
        published,
      }
    : { alive };

const name = fc.constantFrom(...NAMES);
const lines = {
  right: fc.subarray([...NAMES], { minLength: 0 }),
  wrong: fc.oneof({ weight: 4, arbitrary: fc.constant<Name[]>([]) }, fc.subarray([...NAMES], { maxLength: 1 })),
};
const all = { right: fc.constant<Name[]>([...NAMES]), wrong: fc.constant<Name[]>([]) };
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), name }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('zip' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sums' as const), ...lines }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('sums' as const), ...all }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sign' as const), ...lines, good: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('sign' as const), ...all, good: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('key' as const), isPublished: fc.boolean() }) },
);
/** A sequence of steps. In half of the sequences the version is never deleted. */
const life = fc
  .tuple(
    fc.array(act, { minLength: 5, maxLength: 30, size: 'max' }),
    fc.option(fc.constant<Act>({ do: 'delete' }), { freq: 2 }),
    fc.array(act, { maxLength: 4 }),
  )
  .map(([before, end, after]) => (end ? [...before, end, ...after] : before));

const BEGINNING: readonly RegistryProviderVersionEvent[] = [
  {
    type: 'RegistryProviderVersionCreated',
    data: { provider: 'prov-1', name: 'aws', version: '1.0.0', keyId: 'K', protocols: ['5.0'] },
  },
];

describe('random sequences of steps on a version', () => {
  const endings = new Map<string, number>();

  it('match the model: flags show what is verified, acknowledged files remain, and a complete version is published once', () => {
    fc.assert(
      fc.property(life, fc.boolean(), (acts, keyAtFirst) => {
        let state = fold(registryProviderVersion, registryProviderVersion.initial, BEGINNING);
        const history = [...BEGINNING];
        const model: Model = {
          alive: true,
          sums: null,
          signature: null,
          proved: false,
          platforms: new Map(),
          published: false,
        };
        let world: World = { key: keyAtFirst };
        for (const one of acts) {
          if (one.do === 'key') world = { key: one.isPublished };
          const command = commandFor(one, model, world);
          if (!command) continue;
          const outcome = attempt(command, state);
          const expectedOutcome = expected(model, one, world);
          expect([one, typeof outcome === 'string' ? outcome : 'done']).toEqual([one, expectedOutcome]);
          if (typeof outcome === 'string') continue;
          const wasPublished = model.published;
          apply(model, one, world);
          state = fold(registryProviderVersion, state, outcome);
          history.push(...outcome);
          expect(toObservable(state)).toEqual(modelToObservable(model));
          const publications = outcome.filter(({ type }) => type === 'RegistryProviderVersionPublished');
          expect(publications).toHaveLength(model.published && !wasPublished ? 1 : 0);
        }
        // Folding all events gives the same state as the snapshots.
        expect(fold(registryProviderVersion, registryProviderVersion.initial, history)).toEqual(state);
        const ending = `${model.alive ? 'alive' : 'deleted'}, ${model.published ? 'published' : 'not published'}`;
        endings.set(ending, (endings.get(ending) ?? 0) + 1);
      }),
      { numRuns: 400 },
    );
    // The random sequences reached every ending several times.
    for (const ending of ['alive, published', 'alive, not published', 'deleted, published', 'deleted, not published']) {
      expect([ending, (endings.get(ending) ?? 0) > 4]).toEqual([ending, true]);
    }
  });
});
