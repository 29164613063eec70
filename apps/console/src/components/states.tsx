import { Alert, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import { ApiError, describeError, isDenied } from '../api/api-error.js';
import { useServerReturn } from '../api/server-return.js';
import { AlertIcon, type IconProps } from './icons.js';
import classes from './states.module.css';

type EmptyStateProps = {
  readonly icon?: ComponentType<IconProps>;
  readonly title: string;
  /** The next step. */
  readonly children: ReactNode;
};

/** Replaces a list without rows, and describes the next step. */
export const EmptyState = ({ icon: Icon, title, children }: EmptyStateProps) => (
  <div className={classes['empty']}>
    {Icon && <Icon size={36} className={classes['icon']} />}
    <Title order={2} size="h4">
      {title}
    </Title>
    <Stack gap="md" className={classes['steps']}>
      {children}
    </Stack>
  </div>
);

type NotFoundStateProps = {
  readonly what?: string;
  /** The reason of the refusal. Null if the server gives none. */
  readonly reason?: string | null;
};

/** The server does not distinguish what does not exist from what a person may not see. */
export const NotFoundState = ({ what = 'page', reason = null }: NotFoundStateProps) => (
  <EmptyState icon={AlertIcon} title={`This ${what} does not exist, or you have no access`}>
    <Text>
      {reason ??
        'Check the address. If it is right, ask an owner of the organization to give one of your teams access, and then load the page again.'}
    </Text>
    <Group justify="center">
      <Button renderRoot={(props) => <Link {...props} to="/" />}>Go to your organizations</Button>
    </Group>
  </EmptyState>
);

type ErrorStateProps = {
  readonly error: Error;
  readonly onRetry: () => void;
  /** Called when a server that was away is back. By default `onRetry`. */
  readonly onReturn?: () => void;
  /** Whether older data follow. */
  readonly hasData?: boolean;
};

/** Reads again by itself when the server is back. */
export const ErrorState = ({ error, onRetry, onReturn = onRetry, hasData = false }: ErrorStateProps) => {
  useServerReturn(error, onReturn);
  return (
    <Alert
      color={hasData ? 'yellow' : 'red'}
      variant="light"
      title={hasData ? 'This may be out of date' : 'Loading failed'}
      icon={<AlertIcon />}
      role="alert"
    >
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{describeError(error)}</Text>
        <Button size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      </Stack>
    </Alert>
  );
};

/** Placeholders while data load. */
export const LoadingLines = ({ count = 4, height = 20 }: { readonly count?: number; readonly height?: number }) => (
  <Stack gap="sm" aria-busy="true" aria-label="Loading" role="status">
    {Array.from({ length: count }, (_, index) => (
      <Skeleton key={index} height={height} width={index === count - 1 ? '60%' : '100%'} />
    ))}
  </Stack>
);

/** A 403 has a reason, such as an address that the organization refuses. A 404 has none. */
const getReason = (error: Error | null): string | null =>
  error instanceof ApiError && error.status === 403 ? error.message : null;

type QueryStateProps<T> = {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  /** The kind of resource that the query reads, such as `workspace`. */
  readonly what: string;
  readonly loading?: ReactNode;
  readonly children: (data: T) => ReactNode;
};

/**
 * Shows the data of a query, or that they load, or why they cannot. Data that the person may no longer read disappear. Other
 * data stay, with a notice, if they cannot be read again.
 */
export const QueryState = <T,>({ query, what, loading = <LoadingLines />, children }: QueryStateProps<T>) => {
  const { data, error } = query;
  const retry = () => void query.refetch();
  if (isDenied(error)) return <NotFoundState what={what} reason={getReason(error)} />;
  if (data === undefined) return error ? <ErrorState error={error} onRetry={retry} /> : loading;
  return (
    <>
      {error && <ErrorState error={error} onRetry={retry} hasData />}
      {children(data)}
    </>
  );
};
