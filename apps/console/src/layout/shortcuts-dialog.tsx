import { Group, Kbd, Stack, Switch, Table, Text } from '@mantine/core';
import { Dialog } from '../components/dialog.js';
import { getModifierName } from '../shortcuts/modifier.js';
import { useShortcuts } from '../shortcuts/shortcuts.js';

const ShortcutKeys = ({ keys }: { readonly keys: string }) => (
  <Group gap={4} wrap="nowrap">
    {keys.split(' ').map((key) => (
      <Kbd key={key}>{key}</Kbd>
    ))}
  </Group>
);

/** Lists the shortcuts of the screen, and lets people turn them off. */
export const ShortcutsDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const { list, isEnabled, setEnabled } = useShortcuts();
  const modifier = getModifierName();
  const rows = [
    ...list(),
    { keys: `${modifier} K`, label: 'Search and commands' },
    { keys: '↑ ↓', label: 'Move in lists' },
    { keys: 'Enter', label: 'Open the row' },
  ];
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      <Stack>
        <Table aria-label="Keyboard shortcuts" verticalSpacing={6}>
          <Table.Tbody>
            {rows.map(({ keys, label }) => (
              <Table.Tr key={keys}>
                <Table.Td w={120}>
                  <ShortcutKeys keys={keys} />
                </Table.Td>
                <Table.Td>{label}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Switch
          checked={isEnabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
          label="Shortcuts of single keys"
          description={`Turn them off if a screen reader or speech input needs these keys. ${modifier} K stays.`}
        />
        <Text size="sm" c="dimmed">
          Press Esc to close.
        </Text>
      </Stack>
    </Dialog>
  );
};
