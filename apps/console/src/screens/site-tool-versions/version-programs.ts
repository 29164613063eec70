import type { ListedVersionType } from '../../api/tool-versions.js';

type ProgramWords = {
  readonly label: string;
  readonly description: string;
  /** What an address leads to. */
  readonly archive: string;
  readonly archiveHelp: string;
  readonly exampleUrl: string;
  readonly exampleVersion: string;
  readonly effects: Readonly<Record<'enable' | 'disable' | 'deprecate' | 'restore' | 'delete', string>>;
};

export const PROGRAM_WORDS: Readonly<Record<ListedVersionType, ProgramWords>> = {
  'terraform-versions': {
    label: 'Terraform and OpenTofu',
    description:
      'The releases of Terraform and OpenTofu that workspaces may choose. A workspace keeps its version if you disable it.',
    archive: 'Address of the archive',
    archiveHelp:
      'The zip file for Linux on amd64. Without an address, executors take it from the publisher or their mirror.',
    exampleUrl: 'https://tools.example.com/terraform_1.16.5_linux_amd64.zip',
    exampleVersion: '1.16.5',
    effects: {
      enable: 'Workspaces can choose the version, and constraints and “latest” can resolve to it.',
      disable:
        'Workspaces cannot choose the version any more. Those that have it keep it. Constraints and “latest” resolve to other versions.',
      deprecate:
        'Logs of plans with the version begin with a warning that has your reason. Workspaces can still choose it.',
      restore: 'Logs of plans no longer begin with a warning.',
      delete: 'Workspaces cannot choose the version any more.',
    },
  },
  'opa-versions': {
    label: 'OPA',
    description: 'The releases of the Open Policy Agent, which evaluates policies.',
    archive: 'Address of the program',
    archiveHelp: 'The program for Linux on amd64, without a zip file around it.',
    exampleUrl: 'https://tools.example.com/opa_linux_amd64_static',
    exampleVersion: '1.19.1',
    effects: {
      enable: 'The version is marked as enabled.',
      disable: 'The version is marked as disabled.',
      deprecate: 'The version is marked as deprecated, with your reason.',
      restore: 'The version is no longer marked as deprecated.',
      delete: 'The version is no longer in the list.',
    },
  },
};
