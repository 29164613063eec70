import { Alert } from '@mantine/core';
import { ApiError, describeChangeError } from '../api/api-error.js';

/** Returns the problem with a field of a form, or null. */
export const findFieldProblem = (error: Error | null, field: string): string | null =>
  error instanceof ApiError ? (error.fields[field] ?? null) : null;

type FormProblemsProps = {
  readonly error: Error | null;
  /** Fields of the form, which show their own problems. */
  readonly fields?: readonly string[];
};

/** Shows why a change was refused, besides what the fields of the form show. */
export const FormProblems = ({ error, fields = [] }: FormProblemsProps) => {
  if (!error) return null;
  if (!(error instanceof ApiError)) {
    return (
      <Alert color="red" role="alert">
        {describeChangeError(error)}
      </Alert>
    );
  }
  const others = error.problems.filter(({ field }) => field === null || !fields.includes(field));
  if (others.length === 0 && error.problems.length > 0) return null;
  return (
    <Alert color="red" role="alert">
      {others.length > 0
        ? others.map(({ detail, field }) => <div key={detail}>{field === null ? detail : `${field}: ${detail}`}</div>)
        : error.message}
    </Alert>
  );
};
