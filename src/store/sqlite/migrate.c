#include "store/sqlite/migrate.h"
#include "store/sql/row.h"

static enum rc read_version(struct db *db, int64_t *ret_version, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_VERSION);
    bool found;
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, NULL);
    *ret_version = row_i64(&row);
    return RC_OK;
}

/* One step under the write lock, so that the version cannot move between looking and changing. */
static enum rc step(struct db *db, const struct embedded *migrations, int64_t newest,
                    bool *ret_done, struct err *err)
{
    int64_t version;
    TRY(read_version(db, &version, err));
    if (version < 0 || version > newest)
        return err_set(err, RC_UNSUPPORTED,
                       "%s has version %d, and this belfry knows versions up to %d; "
                       "run the belfry that wrote it, or a newer one",
                       db->path, (int)version, (int)newest);
    *ret_done = version == newest;
    if (*ret_done)
        return RC_OK;
    const struct embedded *next = &migrations[version];
    if (db_exec(db, str_of(next->text, next->len), err))
        return err_note(err, "migration %s", next->name);
    return RC_OK;
}

enum rc migrate(struct db *db, const struct embedded *migrations, struct err *err)
{
    int64_t newest = 0;
    while (migrations[newest].name != NULL)
        newest++;
    for (bool done = false; !done;) {
        TRY(db_begin(db, SQL_BEGIN_WRITE, err));
        enum rc rc = step(db, migrations, newest, &done, err);
        if (rc != RC_OK) {
            db_rollback(db);
            return rc;
        }
        TRY(db_commit(db, err));
    }
    return RC_OK;
}
