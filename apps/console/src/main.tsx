import './layers.css';
import '@mantine/core/styles.layer.css';
import './style.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.js';
import { router } from './router.js';
import { ShortcutProvider } from './shortcuts/shortcuts.js';
import { getStyleNonce } from './style-nonce.js';
import { resolveColors, theme } from './theme.js';

const root = document.getElementById('console');
if (!root) throw new Error('the page has no element with the id console');

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveColors}
      defaultColorScheme="auto"
      getStyleNonce={getStyleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <ShortcutProvider>
          <RouterProvider router={router} />
        </ShortcutProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
