;;; hive-shared-feed.el --- How messages come into a shared buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Three ways lead into a shared buffer: the last messages when it is opened
;; or the sidecar comes back, pages at both ends on request, and what is
;; posted while it is shown.  The sidecar tells in the order of the store;
;; what it tells while something is fetched waits for that.

;;; Code:

(require 'cl-lib)
(require 'hive-mentions)
(require 'hive-notify)
(require 'hive-place)
(require 'hive-rpc)
(require 'hive-shared-stretch)
(require 'hive-shared-view)
(require 'hive-sidecar)
(require 'hive-work)

(defvar-local hive-shared--fetch nil "A cons that stands for what is being fetched.")
(defvar-local hive-shared--meanwhile nil "What was posted meanwhile, newest first.")

(defvar hive-shared-name-function #'ignore
  "Called in a buffer when the sidecar has said which project it shows.")

(defun hive-shared-buffers ()
  "Return the shared buffers."
  (cl-remove-if-not (lambda (buffer)
                      (provided-mode-derived-p (buffer-local-value 'major-mode buffer)
                                               'hive-shared-mode))
                    (buffer-list)))

;;;; Fetching

(defun hive-shared--params (more)
  "Return the parameters for a page of this buffer, MORE among them."
  (append (hive-place-params hive-shared-place)
          (when hive-shared-thread (list :thread hive-shared-thread))
          more))

(defun hive-shared--request (more then)
  "Fetch a page with the parameters MORE; call THEN with it in this buffer.
A fetch that begins later takes the place of this one."
  (let ((token (list 'fetch)) (buffer (current-buffer)))
    (setq hive-shared--fetch token)
    (cl-flet ((finish (function argument)
                (when (buffer-live-p buffer)
                  (with-current-buffer buffer
                    (when (eq token hive-shared--fetch)
                      (funcall function argument)
                      (when (eq token hive-shared--fetch)
                        (setq hive-shared--fetch nil)
                        (hive-shared--catch-up))
                      (force-mode-line-update))))))
      (hive-rpc-request
       'message/list (hive-shared--params more)
       :timeout 30
       :success (lambda (page) (finish then page))
       :error (lambda (err)
                (finish (lambda (err)
                          (unless (eq 'disconnected (plist-get err :name))
                            (hive-notify-say "Hive could not read the messages: %s"
                                             (hive-text-line (plist-get err :text) 200))))
                        err))))))

(defun hive-shared--catch-up ()
  "Show what was posted while something was fetched."
  (let ((told (nreverse hive-shared--meanwhile)))
    (setq hive-shared--meanwhile nil)
    (mapc #'hive-shared-take told)))

(defun hive-shared--messages-of (page)
  "Return the messages of PAGE as a list."
  (append (plist-get page :messages) nil))

;;;; The last messages

(defun hive-shared-refresh ()
  "Fetch the last messages; those that are shown already stay in place.
When so much was posted that a gap would remain, begin anew."
  (interactive)
  (when (hive-sidecar-connected-p)
    (hive-shared--request (list :limit (min 500 hive-shared-limit))
                          #'hive-shared--refreshed)))

(defun hive-shared--refreshed (page)
  "Take PAGE, which has the last messages."
  (let* ((messages (hive-shared--messages-of page))
         (more (eq t (plist-get page :more)))
         (last (hive-shared-last)))
    (when (plist-get page :project_dir)
      (setq hive-shared-place (list :confirmed t
                                    :directory (plist-get hive-shared-place :directory)
                                    :project (plist-get page :project)
                                    :project_dir (plist-get page :project_dir)))
      (funcall hive-shared-name-function))
    ;; Who has paged back stays there; the last messages wait behind.
    (unless (and last hive-shared-later)
      (when (and last more messages
                 (< (plist-get last :seq) (plist-get (car messages) :seq)))
        (hive-shared-drop-last (hive-shared-count)))
      (setq hive-shared-later nil)
      (let ((empty (zerop (hive-shared-count))))
        (hive-shared-show messages)
        (if empty (setq hive-shared-earlier more) (hive-shared-trim))
        ;; Long messages make short pages.
        (when (and empty more messages (< (hive-shared-count) hive-shared-limit))
          (hive-shared--fill)))
      (hive-shared-edges))))

(defun hive-shared--fill ()
  "Fetch older messages until there are as many as there should be."
  (hive-shared--back (- hive-shared-limit (hive-shared-count))
                     (lambda ()
                       (when (and hive-shared-earlier
                                  (< (hive-shared-count) hive-shared-limit))
                         (hive-shared--fill)))))

;;;; Pages

(defun hive-shared--back (count &optional then)
  "Fetch COUNT messages before the first one; call THEN afterwards."
  (hive-shared--request
   (list :before (plist-get (hive-shared-first) :seq) :limit (max 1 (min 500 count)))
   (lambda (page)
     (hive-shared-show (hive-shared--messages-of page))
     (setq hive-shared-earlier (eq t (plist-get page :more)))
     (let ((excess (- (hive-shared-count) (* 2 hive-shared-limit))))
       (when (> excess 0) (hive-shared-drop-last excess)))
     (hive-shared-edges)
     (when then (funcall then)))))

(defun hive-shared-page-back ()
  "Show older messages."
  (interactive)
  (cond ((not hive-shared-earlier) (user-error "These are the first messages"))
        (t (hive-sidecar-demand)
           (hive-shared--back hive-shared-limit))))

(defun hive-shared-page-forward ()
  "Show newer messages, after you have paged back."
  (interactive)
  (cond
   ((not hive-shared-later) (user-error "These are the last messages"))
   (t (hive-sidecar-demand)
      (hive-shared--request
       (list :after (plist-get (hive-shared-last) :seq) :limit (min 500 hive-shared-limit))
       (lambda (page)
         (hive-shared-show (hive-shared--messages-of page))
         (setq hive-shared-later (eq t (plist-get page :more)))
         (let ((excess (- (hive-shared-count) (* 2 hive-shared-limit))))
           (when (> excess 0) (hive-shared-drop-first excess)))
         (hive-shared-edges))))))

(defun hive-shared-latest ()
  "Show the last messages and go to where you write."
  (interactive)
  (when (and hive-shared-later (hive-sidecar-connected-p))
    (hive-shared-drop-last (hive-shared-count))
    (setq hive-shared-later nil)
    (hive-shared-refresh))
  (goto-char (point-max)))

;;;; What is posted while we look

(defun hive-shared--ours-p (message)
  "Return non-nil if MESSAGE belongs into this buffer."
  (let ((project-dir (plist-get hive-shared-place :project_dir)))
    (and (or (null project-dir)
             (equal project-dir (plist-get message :project_dir))
             (equal "all" (plist-get message :scope)))
         (or (null hive-shared-thread)
             (equal hive-shared-thread (plist-get message :thread))
             (equal hive-shared-thread (plist-get message :message_id))))))

(defun hive-shared-take (message)
  "Show MESSAGE, which was posted, unless it stands where nobody has paged to."
  (cond (hive-shared--fetch (push message hive-shared--meanwhile))
        (hive-shared-later)
        ((progn (hive-shared-trim)
                (>= (hive-shared-count) (* 2 hive-shared-limit)))
         ;; Somebody reads far up: what comes now waits in the store.
         (setq hive-shared-later t)
         (hive-shared-edges))
        ((hive-shared-show (list message))
         (hive-shared-trim)
         (hive-shared-edges))))

(cl-defmethod hive-rpc-notify ((_method (eql 'message/posted)) message)
  "Show MESSAGE, a new one, in the buffers it belongs to."
  (dolist (buffer (hive-shared-buffers))
    (with-current-buffer buffer
      (when (hive-shared--ours-p message)
        (hive-work-guarded #'hive-shared-take message)))))

(defun hive-shared--mention-changed (mention)
  "Let the heading of the message of MENTION, if of the human, tell its state."
  (when (equal hive-mentions-human (plist-get mention :session_id))
    (dolist (buffer (hive-shared-buffers))
      (with-current-buffer buffer
        (let ((message (hive-shared-message (plist-get mention :message_id))))
          (when message (hive-shared-adorn message)))))))

(defvar-local hive-shared--store nil "The store whose messages are shown.")

(defun hive-shared--connected ()
  "Bring every shared buffer up to date: the sidecar is there."
  (let ((store (plist-get hive-sidecar-info :store_id)))
    (dolist (buffer (hive-shared-buffers))
      (with-current-buffer buffer
        (unless (equal store hive-shared--store)
          (hive-shared-drop-last (hive-shared-count))
          (setq hive-shared-later nil
                hive-shared--store store))
        (hive-shared-refresh)))))

(add-hook 'hive-mentions-changed-functions #'hive-shared--mention-changed)
(add-hook 'hive-connected-hook #'hive-shared--connected)

(cl-defmethod hive-rpc-notify :after ((_method (eql 'desk/resync)) _params)
  "Fetch the last messages anew: the sidecar lost its place in the log."
  (hive-shared--connected))

(provide 'hive-shared-feed)
;;; hive-shared-feed.el ends here
