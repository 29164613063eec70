import { Badge, Table, Text } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { platformsQuery, type ProviderPlatform, type ProviderVersion } from '../../api/registry.js';
import { CheckIcon } from '../../components/icons.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { Time } from '../../components/times.js';
import classes from './provider.module.css';

const NEEDS_RIGHT = 'You need a team with the right to manage providers.';

const State = ({ isDone, done, open }: { readonly isDone: boolean; readonly done: string; readonly open: string }) => (
  <span className={isDone ? classes['done'] : classes['open']}>
    {isDone && <CheckIcon size={14} />} {isDone ? done : open}
  </span>
);

const formatPlatform = ({ attributes: { os, arch } }: ProviderPlatform): string => `${os}/${arch}`;

type CellProps = { readonly platform: ProviderPlatform | undefined; readonly isLoaded: boolean };

const PlatformCell = ({ platform, isLoaded }: CellProps) => {
  if (!isLoaded) return <Table.Td>…</Table.Td>;
  if (!platform) {
    return (
      <Table.Td>
        <Text span size="sm" c="dimmed">
          –
        </Text>
      </Table.Td>
    );
  }
  return (
    <Table.Td>
      <State isDone={platform.attributes['provider-binary-uploaded']} done="uploaded" open="zip missing" />
    </Table.Td>
  );
};

type RowProps = {
  readonly version: ProviderVersion;
  readonly platforms: readonly ProviderPlatform[] | undefined;
  readonly columns: readonly string[];
  readonly onDelete: (version: string) => void;
};

const VersionRow = ({ version, platforms, columns, onDelete }: RowProps) => {
  const { attributes } = version;
  const { usable, missing, permissions } = attributes;
  return (
    <Table.Tr>
      <Table.Th scope="row">
        {attributes.version}
        <Text size="xs" c="dimmed">
          <Time value={attributes['created-at']} />
        </Text>
      </Table.Th>
      <Table.Td>
        <Badge color={usable ? 'green' : 'yellow'}>{usable ? 'Can be installed' : 'Incomplete'}</Badge>
        {missing.length > 0 && (
          <Text size="xs" c="dimmed" mt={4}>
            Missing: {missing.join(', ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <State isDone={attributes['shasums-uploaded']} done="checksums" open="no SHA256SUMS" />
        <br />
        <State isDone={attributes['shasums-sig-uploaded']} done="signature verified" open="no valid signature" />
        <Text size="xs" c="dimmed">
          key <code>{attributes['key-id']}</code>
        </Text>
      </Table.Td>
      {columns.map((column) => (
        <PlatformCell
          key={column}
          isLoaded={platforms !== undefined}
          platform={platforms?.find((each) => formatPlatform(each) === column)}
        />
      ))}
      <Table.Td>
        <PermittedButton
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={`Delete version ${attributes.version}`}
          isPermitted={permissions['can-delete']}
          reason={NEEDS_RIGHT}
          onClick={() => onDelete(attributes.version)}
        >
          Delete
        </PermittedButton>
      </Table.Td>
    </Table.Tr>
  );
};

type MatrixProps = {
  readonly organization: string;
  readonly provider: string;
  readonly versions: readonly ProviderVersion[];
  readonly onDelete: (version: string) => void;
};

/** Versions and platforms, with what each lacks. */
export const VersionMatrix = ({ organization, provider, versions, onDelete }: MatrixProps) => {
  const results = useQueries({
    queries: versions.map(({ attributes }) => platformsQuery(organization, provider, attributes.version)),
  });
  const columns = [...new Set(results.flatMap(({ data = [] }) => data.map(formatPlatform)))].toSorted();
  return (
    // It can scroll, so the keyboard must reach it.
    <div className={classes['matrix']} tabIndex={0} role="region" aria-label="Versions and platforms">
      <Table verticalSpacing="sm" horizontalSpacing="md" aria-label="Versions">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Version</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Verification</Table.Th>
            {columns.map((column) => (
              <Table.Th key={column}>{column}</Table.Th>
            ))}
            <Table.Td />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {versions.map((version, index) => (
            <VersionRow
              key={version.id}
              version={version}
              platforms={results[index]?.data}
              columns={columns}
              onDelete={onDelete}
            />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
};
