import { Alert, Button, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

type ChangedNoticeProps = {
  /** The kind of resource that somebody else has changed, such as `variable`. */
  readonly what: string;
  /** The facts that the person needs to decide. */
  readonly children: ReactNode;
  /** Drops what the person has entered. */
  readonly onReset: () => void;
};

/** In a form: somebody else has changed what the form shows since it was opened. The person decides what to save. */
export const ChangedNotice = ({ what, children, onReset }: ChangedNoticeProps) => (
  <Alert color="yellow" variant="light" role="alert" title={`This ${what} was changed since you opened it`}>
    <Stack gap="xs" align="flex-start">
      <Text size="sm">{children}</Text>
      <Button size="compact-sm" variant="default" onClick={onReset}>
        Use the present values
      </Button>
    </Stack>
  </Alert>
);
