import { Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useLayoutEffect } from 'react';
import { EmptyState } from '../components/states.js';

const getAddress = (): string => {
  const { pathname, search } = window.location;
  return `/sign-in?return_to=${encodeURIComponent(pathname + search)}`;
};

/** Replaces the console, and everything that it has read, after the person has signed out in another tab. */
export const SignedOut = () => {
  const queries = useQueryClient();
  useLayoutEffect(() => queries.clear(), [queries]);
  return (
    <main>
      <EmptyState title="You have signed out in another tab">
        <Text>This tab shows nothing any more.</Text>
        <div>
          <Button component="a" href={getAddress()}>
            Sign in
          </Button>
        </div>
      </EmptyState>
    </main>
  );
};
