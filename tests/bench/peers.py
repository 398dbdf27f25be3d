"""Others who do a part of belfry's work, measured on the same machine in the same minutes."""

import subprocess
import time

import rig

LIFE_BATCH = 500  # as `belfry bench life`


def beanstalkd(sync_flag, jobs):
    """Jobs a second through put, reserve and delete; its log in a directory of its own."""
    with rig.temp_dir() as folder:
        port = rig.free_port()
        with rig.running("beanstalkd", "-l", "127.0.0.1", "-p", port, "-b", folder, sync_flag):
            rig.wait_until(lambda: listens(port), "beanstalkd")
            return rig.numbers_of(rig.PROGRAMS / "beanstalk_bench", port, jobs,
                                  LIFE_BATCH)["jobs_per_s"]


def listens(port):
    try:
        rig.socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


NGINX_CONF = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes {workers};
events {{ worker_connections 1024; }}
http {{
    access_log off; keepalive_requests 100000000; sendfile on; tcp_nopush on; tcp_nodelay on;
    open_file_cache max=100; open_file_cache_valid 600s;
    default_type application/json;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{ listen 127.0.0.1:{port} reuseport; root {folder}/root; }}
}}
"""


def nginx(body, workers, measure):
    """measure(url) while nginx serves body as a file."""
    with rig.temp_dir() as folder:
        folder.chmod(0o755)
        port = rig.free_port()
        (folder / "root").mkdir()
        (folder / "root" / "job").write_bytes(body)
        (folder / "nginx.conf").write_text(
            NGINX_CONF.format(folder=folder, port=port, workers=workers))
        with rig.running("nginx", "-c", folder / "nginx.conf", stderr=subprocess.DEVNULL):
            rig.wait_until(lambda: listens(port), "nginx")
            return measure(f"http://127.0.0.1:{port}/job")


def wrk(url, seconds, headers=()):
    """Requests a second; 64 connections on one thread. None may fail."""
    command = ["wrk", "-t1", "-c64", f"-d{seconds}s", *sum((["-H", h] for h in headers), []), url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(f"wrk {url} failed:\n{text}")
    time.sleep(0.2)  # for the connections to be gone
    return float(text.split("Requests/sec:")[1].split()[0])
