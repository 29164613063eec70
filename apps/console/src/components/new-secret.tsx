import { Alert, Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { CodeBlock } from './copy.js';

type NewSecretProps = { readonly secret: string; readonly children?: ReactNode; readonly onClose: () => void };

/** A new token, which the server shows once. Only its button closes the dialog around it. */
export const NewSecret = ({ secret, children, onClose }: NewSecretProps) => (
  <Stack>
    <Alert color="yellow" variant="light" role="status" title="Copy the token now">
      The server stores only a hash of it, and shows it here once.
    </Alert>
    <CodeBlock code={secret} label="the token" />
    {children}
    <Group justify="flex-end">
      <Button onClick={onClose}>I have copied it</Button>
    </Group>
  </Stack>
);
