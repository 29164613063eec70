import { Alert } from '@mantine/core';
import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { ApiError, describeChangeError } from '../api/api-error.js';

/** Returns the problem with a field of a form, or null. */
export const findFieldProblem = (error: Error | null, field: string): string | null =>
  error instanceof ApiError ? (error.fields[field] ?? null) : null;

type FormProblemsProps = {
  readonly error: Error | null;
  /** Fields of the form, which show their own problems. */
  readonly fields?: readonly string[];
};

/** Returns what the fields of the form do not show, or null. */
const describeProblems = ({ error, fields = [] }: FormProblemsProps): ReactNode => {
  if (!error) return null;
  if (!(error instanceof ApiError)) return describeChangeError(error);
  const others = error.problems.filter(({ field }) => field === null || !fields.includes(field));
  if (others.length === 0) return error.problems.length > 0 ? null : error.message;
  return others.map(({ detail, field }) => <div key={detail}>{field === null ? detail : `${field}: ${detail}`}</div>);
};

/**
 * Scrolls a refusal into view. The focus moves to the first refused field. Without one, it stays in the form, and moves to the
 * refusal if the element that had it is disabled or gone.
 */
const showRefusal = (refusal: HTMLElement): void => {
  const form = refusal.closest('form, [role="dialog"]');
  refusal.scrollIntoView({ block: 'nearest' });
  const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
  if (field) {
    field.focus({ preventScroll: true });
    // The label above the field and the problem below it are then in view too.
    field.scrollIntoView({ block: 'center' });
  } else if (!form?.contains(document.activeElement) || document.activeElement?.matches(':disabled')) {
    refusal.focus({ preventScroll: true });
  }
};

/** Shows why a change was refused, besides what the fields of the form show. */
export const FormProblems = (props: FormProblemsProps) => {
  const { error } = props;
  const refusal = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (error && refusal.current) showRefusal(refusal.current);
  }, [error]);
  const problems = describeProblems(props);
  // The head of a dialog covers the first lines of what scrolls below it.
  return (
    <div ref={refusal} tabIndex={-1} hidden={problems === null} style={{ scrollMarginTop: '5rem' }}>
      {problems !== null && (
        <Alert color="red" role="alert">
          {problems}
        </Alert>
      )}
    </div>
  );
};
