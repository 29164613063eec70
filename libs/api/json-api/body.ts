import type { z } from 'zod';
import { toLabel, Refusal, collectRefusals, type Problem } from '#platform/kernel';
import { ACCEPTED_MEMBERS } from './body-schemas.js';
import { CONTINUES_NAME } from './member-treatments.js';

type Issue = z.core.$ZodIssue;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  boolean: 'must be true or false',
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  array: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
};

const describeCustomIssue = ({ message, params }: z.core.$ZodIssueCustom, name: string): string =>
  params?.[CONTINUES_NAME] === true ? `${toLabel(name)} ${message}` : message;

const toProblem = (issue: Issue): Problem => {
  const pointer = `/${issue.path.map(String).join('/')}`;
  // The last name in the path, not an index: `protocols/0` is a problem of `protocols`.
  const name = issue.path.findLast((part) => typeof part === 'string') ?? 'document';
  if (issue.code === 'invalid_type') {
    const missing = issue.input === undefined || (issue.input === null && issue.expected === 'string');
    const text = missing ? "can't be blank" : (TYPE_NAMES[issue.expected] ?? `must be of type ${issue.expected}`);
    return { detail: `${toLabel(name)} ${text}`, pointer };
  }
  if (issue.code === 'invalid_value') {
    return { detail: `${toLabel(name)} must be one of ${issue.values.map(String).join(', ')}`, pointer };
  }
  if (issue.code === 'custom') return { detail: describeCustomIssue(issue, name), pointer };
  if (issue.code === 'invalid_format') return { detail: issue.message, pointer };
  return { detail: `${toLabel(name)}: ${issue.message}`, pointer };
};

/** Returns the problems of an issue. One issue of a strict schema lists all unknown members. */
const toProblems = (issue: Issue): readonly Problem[] => {
  if (issue.code !== 'unrecognized_keys') return [toProblem(issue)];
  const path = issue.path.map((part) => `/${String(part)}`).join('');
  const accepted = issue.message.startsWith(ACCEPTED_MEMBERS) ? `; ${issue.message}` : '';
  return issue.keys.map((key) => ({
    detail: `${toLabel(key)} is not known here${accepted}`,
    pointer: `${path}/${key}`,
  }));
};

/** Limits the response: a body can have a million problems. */
const MAX_PROBLEMS = 100;

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const createUnstorableProblem = (pointer: string): Problem => {
  const name = pointer.split('/').findLast((part) => !/^\d*$/.test(part)) ?? 'document';
  return { detail: `${toLabel(name)} holds a character that cannot be stored`, pointer };
};

/**
 * Returns a problem for each text that JSON can express and Postgres cannot store: with a NUL, or with half of a
 * surrogate pair.
 */
const listUnstorable = (document: unknown): readonly Problem[] => {
  const problems: Problem[] = [];
  // A loop, because members without a schema may be nested deeper than the stack.
  const pending: (readonly [value: unknown, pointer: string])[] = [[document, '']];
  for (let next = pending.pop(); next && problems.length < MAX_PROBLEMS; next = pending.pop()) {
    const [value, pointer] = next;
    if (typeof value === 'string' && !isStorable(value)) problems.push(createUnstorableProblem(pointer));
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value).toReversed()) {
      pending.push([inner, `${pointer}/${key}`], [key, pointer]);
    }
  }
  return problems;
};

type BodyAttributes<Body> = Body extends { data?: infer Data }
  ? Data extends { attributes?: infer A }
    ? Partial<NonNullable<A>>
    : never
  : never;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the attributes of a body that have no issue. */
const attributesWithout = (issues: readonly Issue[], body: unknown): Readonly<Record<string, unknown>> => {
  const data = isObject(body) ? body['data'] : undefined;
  const attributes = isObject(data) ? data['attributes'] : undefined;
  if (!isObject(attributes)) return {};
  const wrong = new Set(
    issues.filter(({ path }) => path[0] === 'data' && path[1] === 'attributes').map(({ path }) => path[2]),
  );
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !wrong.has(name)));
};

const refuse = (problems: readonly Problem[]): never => {
  throw new Refusal('unprocessable', problems.slice(0, MAX_PROBLEMS));
};

/**
 * Parses a request's body. Throws a 422 that names the invalid fields.
 *
 * If the schema refuses the body, `check` runs on the attributes that the schema accepts, named as in the request. It
 * checks the rules that the decider has for single attributes, so that the caller gets all problems in one response.
 */
export const parseBody = <S extends z.ZodType>(
  schema: S,
  body: unknown,
  check: (attributes: BodyAttributes<z.input<S>>) => void = () => undefined,
): z.output<S> => {
  const result = schema.safeParse(body ?? {}, { reportInput: true });
  if (!result.success) {
    const { issues } = result.error;
    return collectRefusals(
      () => refuse(issues.flatMap(toProblems)),
      () => check(attributesWithout(issues, body) as BodyAttributes<z.input<S>>),
    );
  }
  const problems = listUnstorable(result.data);
  return problems.length === 0 ? result.data : refuse(problems);
};
