// What the maintainer needs inside the driver's JVM; compiled when first used by the compiler that Spark itself uses.
//
// Python could implement Iceberg's interfaces too, but an exception that passes through Python loses its class, and the
// class of a failed commit decides whether Iceberg retries it and whether it deletes what it wrote.
package limnograph;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.encryption.EncryptionManager;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.io.BulkDeletionFailureException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.io.LocationProvider;
import org.apache.iceberg.io.SupportsBulkOperations;
import org.apache.iceberg.io.SupportsPrefixOperations;
import org.apache.spark.sql.RowFactory;

public final class LakeTools {
  /** The same table at the same state; `gate` is asked before, and told after, each of its commits. */
  public Table gated(Table table, Predicate gate) {
    BaseTable base = (BaseTable) table;
    return new BaseTable(new Gate(base.operations(), gate), base.name(), base.reporter());
  }

  /** The metadata without snapshots; `ids` are separated by commas. */
  public TableMetadata without(TableMetadata metadata, String ids) {
    Set gone = new HashSet();
    String[] each = ids.split(",");
    for (int i = 0; i < each.length; i++) {
      gone.add(Long.valueOf(each[i]));
    }
    return TableMetadata.buildFrom(metadata).removeSnapshots(gone).build();
  }

  /** Rows (location, size, modified at) of all files whose location begins with a prefix; null: it cannot list. */
  public List listed(FileIO io, String prefix) {
    if (!(io instanceof SupportsPrefixOperations)) {
      return null;
    }
    List rows = new ArrayList();
    Iterator files = ((SupportsPrefixOperations) io).listPrefix(prefix).iterator();
    while (files.hasNext()) {
      FileInfo file = (FileInfo) files.next();
      Object[] row = new Object[] {file.location(), Long.valueOf(file.size()), Long.valueOf(file.createdAtMillis())};
      rows.add(RowFactory.create(row));
    }
    return rows;
  }

  /** The same of a local folder; symbolic links are neither followed nor listed. `root`: as locations spell `folder`. */
  public List walked(String folder, final String root) throws IOException {
    final List rows = new ArrayList();
    final int start = folder.length();
    Files.walkFileTree(
        Paths.get(folder, new String[0]),
        new SimpleFileVisitor() {
          public FileVisitResult visitFile(Object found, BasicFileAttributes file) {
            if (file.isRegularFile()) {
              String location = root + found.toString().substring(start);
              Object[] row = new Object[] {location, Long.valueOf(file.size()), Long.valueOf(file.lastModifiedTime().toMillis())};
              rows.add(RowFactory.create(row));
            }
            return FileVisitResult.CONTINUE;
          }

          public FileVisitResult visitFileFailed(Object found, IOException failure) throws IOException {
            if (failure instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE; // A writer removed it meanwhile.
            }
            throw failure;
          }
        });
    return rows;
  }

  /** Rows (location, kind); `locations` are separated by NUL. */
  public List named(String locations, int kind) {
    List rows = new ArrayList();
    String[] each = locations.split("\0");
    for (int i = 0; i < each.length; i++) {
      if (each[i].length() > 0) {
        rows.add(RowFactory.create(new Object[] {each[i], Integer.valueOf(kind)}));
      }
    }
    return rows;
  }

  /** Delete files, separated by NUL; returns those that are still there. A file that does not exist is no failure. */
  public String deleted(FileIO io, String joined) {
    List locations = new ArrayList();
    String[] each = joined.split("\0");
    for (int i = 0; i < each.length; i++) {
      locations.add(each[i]);
    }
    if (io instanceof SupportsBulkOperations) {
      try {
        ((SupportsBulkOperations) io).deleteFiles(locations);
        return "";
      } catch (BulkDeletionFailureException failure) {
        return remaining(io, locations);
      }
    }
    for (int i = 0; i < each.length; i++) {
      try {
        io.deleteFile(each[i]);
      } catch (RuntimeException failure) {
        continue; // Whether it is still there is checked below.
      }
    }
    return remaining(io, locations);
  }

  private String remaining(FileIO io, List locations) {
    StringBuilder left = new StringBuilder();
    for (int i = 0; i < locations.size(); i++) {
      String location = (String) locations.get(i);
      if (io.newInputFile(location).exists()) {
        left.append(left.length() == 0 ? "" : "\0").append(location);
      }
    }
    return left.toString();
  }

  private static final class Gate implements TableOperations {
    private final TableOperations inner;
    private final Predicate gate;

    Gate(TableOperations inner, Predicate gate) {
      this.inner = inner;
      this.gate = gate;
    }

    public TableMetadata current() {
      return inner.current();
    }

    public TableMetadata refresh() {
      return inner.refresh();
    }

    public void commit(TableMetadata base, TableMetadata metadata) {
      if (!gate.test("before")) {
        // Iceberg does not retry this one, and deletes what was written.
        throw new ValidationException("Cannot commit: the action has ended", new Object[0]);
      }
      inner.commit(base, metadata);
      gate.test("after");
    }

    public FileIO io() {
      return inner.io();
    }

    public EncryptionManager encryption() {
      return inner.encryption();
    }

    public String metadataFileLocation(String fileName) {
      return inner.metadataFileLocation(fileName);
    }

    public LocationProvider locationProvider() {
      return inner.locationProvider();
    }

    public TableOperations temp(TableMetadata uncommitted) {
      return inner.temp(uncommitted);
    }

    public long newSnapshotId() {
      return inner.newSnapshotId();
    }

    public boolean requireStrictCleanup() {
      return inner.requireStrictCleanup();
    }
  }
}
