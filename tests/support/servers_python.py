"""Makes what scripts/install-servers has installed importable (botocore, boto3): import this before it."""
import glob
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += glob.glob(os.path.join(ROOT, "build", "servers", "python", "lib", "python3*", "site-packages"))
