// What is at risk while an action runs and after it, and how it is undone. Facts of Iceberg and Delta, by action. Pure.
import { bytes } from '#lib/format/bytes.ts';
import type { Plan } from './words.ts';

export interface Risk {
  readonly risk: string;
  readonly undo: string;
}

const REWRITE: Risk = {
  risk: 'A job that changes the same partitions meanwhile conflicts: one of the two fails and has to start again. The rows stay the same.',
  undo: 'Roll back to the snapshot before it. This also undoes every later commit, and works only until that snapshot expires.',
};
const RISKS: Record<string, Risk> = {
  rewrite_data_files: REWRITE,
  rewrite_position_delete_files: REWRITE,
  rewrite_manifests: {
    risk: 'No data file changes. A job that commits meanwhile may have to try again.',
    undo: REWRITE.undo,
  },
  expire_snapshots: {
    risk: 'Time travel to the expired snapshots fails, and so does a query or stream that still reads one of them.',
    undo: 'It cannot be undone: the files are deleted.',
  },
  remove_orphan_files: {
    risk: 'A job that is still writing has files that no snapshot references yet. Only files that are older than its longest run are safe to remove.',
    undo: 'It cannot be undone: the files are deleted.',
  },
  optimize: {
    risk: REWRITE.risk,
    undo: 'Restore the version before it. This also undoes every later commit, and works only until a vacuum deletes its files.',
  },
  set_properties: {
    risk: 'No file changes now. Later commits follow the new properties.',
    undo: 'Set the properties back. Files that were deleted in the meantime do not come back.',
  },
  vacuum: {
    risk: 'Time travel to versions whose files are deleted fails, and so does a query that still reads one of them.',
    undo: 'It cannot be undone: the files are deleted.',
  },
};
const OTHER: Risk = {
  risk: 'Not known for this action. Read the documentation of the engine before running it.',
  undo: 'Not known for this action.',
};

const REPLACING = ['rewrite_data_files', 'rewrite_position_delete_files', 'optimize'];

export function riskOf({ action, predicted }: Plan): Risk {
  const { risk, undo } = RISKS[action] ?? OTHER;
  const grows = REPLACING.includes(action) && predicted.bytes_out !== null;
  return {
    risk: grows
      ? `${risk} Storage grows by ${bytes(predicted.bytes_out)} until the snapshots before it expire.`
      : risk,
    undo,
  };
}
