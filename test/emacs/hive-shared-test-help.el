;;; hive-shared-test-help.el --- Agents and a shared buffer for tests  -*- lexical-binding: t; -*-

;;; Commentary:

;; A desk with its real sidecar on a real store, a project, and agents in
;; another process on the same store.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-shared)
(require 'hive-test-help)
(require 'json)

(defvar hive-shared-test-agents nil "The process of the agents.")
(defvar hive-shared-test-said "" "What it has said and nobody has read.")

(defmacro hive-shared-test-with (&rest body)
  "Run BODY in the project demo, at a connected desk, with agents at hand."
  (declare (indent 0) (debug t))
  `(hive-test-with-desk nil
     (let* ((hive-store (expand-file-name "store/hive.db" hive-test-temp))
            (hive-sidecar-command (list "node" hive-test-program "sidecar"))
            (project (file-name-as-directory (expand-file-name "demo" hive-test-temp)))
            (default-directory project)
            (kill-ring nil))
       (make-directory (expand-file-name ".git" project) t)
       (write-region "ref: refs/heads/main\n" nil (expand-file-name ".git/HEAD" project) nil 0)
       (with-file-modes #o700 (make-directory (file-name-directory hive-store) t))
       (unwind-protect
           (progn
             (hive-shared-test-open-agents project)
             (hive-test-connect)
             ,@body)
         (hive-shared-test-close)))))

(defun hive-shared-test-open-agents (project)
  "Start the two agents of PROJECT."
  (setq hive-shared-test-said ""
        hive-shared-test-agents
        (hive-test-in-host "test-agents" "agents"
                           (list (concat "HIVE_STORE=" hive-store)
                                 (concat "HIVE_TEST_PROJECT=" (expand-file-name ".git" project)))
                           :coding 'utf-8-unix
                           :filter (lambda (_process text)
                                     (setq hive-shared-test-said
                                           (concat hive-shared-test-said text)))))
  (hive-shared-test-do "join" :session_id "abc12-session")
  (hive-shared-test-do "join" :session_id "def34-session"))

(defun hive-shared-test-do (what &rest request)
  "Let the agents do WHAT, with the plist REQUEST, and return the result."
  (process-send-string hive-shared-test-agents
                       (concat (json-serialize (append (list :do what) request)) "\n"))
  (hive-test-wait 60 (string-search "\n" hive-shared-test-said))
  (let* ((end (string-search "\n" hive-shared-test-said))
         (answer (json-parse-string (substring hive-shared-test-said 0 end)
                                    :object-type 'plist :array-type 'list
                                    :null-object nil :false-object nil)))
    (setq hive-shared-test-said (substring hive-shared-test-said (1+ end)))
    (when (plist-get answer :error) (error "%s" (plist-get answer :error)))
    (plist-get answer :result)))

(defun hive-shared-test-post (body &rest request)
  "Let Claude-abc12 post BODY, with REQUEST, and return the message."
  (plist-get (apply #'hive-shared-test-do "post" :from "Claude-abc12" :body body request)
             :message))

(defun hive-shared-test-stored ()
  "Return what is stored, oldest first, as lists of author, heading and body."
  (mapcar (lambda (message)
            (list (plist-get message :from_handle) (plist-get message :as_handle)
                  (plist-get message :body)))
          (hive-shared-test-do "messages")))

(defun hive-shared-test-close ()
  "End the agents, and close every buffer of the test."
  (dolist (buffer (buffer-list))
    (when (string-match-p "\\`\\*hive[- ]\\(?:shared\\|mentions\\|sessions\\)" (buffer-name buffer))
      (with-current-buffer buffer (setq kill-buffer-hook nil))
      (kill-buffer buffer)))
  (when (process-live-p hive-shared-test-agents)
    (process-send-eof hive-shared-test-agents)
    (hive-test-wait 10 (not (process-live-p hive-shared-test-agents))))
  (clrhash hive-mentions--open)
  (clrhash hive-model--sessions))

(defun hive-shared-test-open (&optional thread)
  "Make the project's shared buffer, or that of THREAD, current."
  (set-buffer (hive-shared-buffer (hive-place-of) thread))
  (hive-shared-test-ready))

(defun hive-shared-test-ready ()
  "Wait until nothing is being fetched for the current buffer."
  (hive-test-wait 15 (not (hive-rpc-fetching 'message/list (current-buffer)))))

(defun hive-shared-test-shown ()
  "Return the text above the line, without the buttons at the ends."
  (let ((pos (point-min)) (text ""))
    (while (< pos (hive-shared-end))
      (let ((next (next-single-property-change pos 'hive-edge nil (hive-shared-end))))
        (unless (get-text-property pos 'hive-edge)
          (setq text (concat text (buffer-substring-no-properties pos next))))
        (setq pos next)))
    text))

(defun hive-shared-test-bodies ()
  "Return the bodies of the blocks above the line, in their order."
  (mapcar (lambda (block) (plist-get block :body))
          (hive-format-parse (hive-shared-test-shown))))

(defun hive-shared-test-wait-for (body)
  "Wait until BODY is the last message shown."
  (hive-test-wait 10 (equal body (car (last (hive-shared-test-bodies))))))

(provide 'hive-shared-test-help)
;;; hive-shared-test-help.el ends here
